/* Both programs in one file, which is 2 MB smaller than two files, for the Python wheel. It behaves
 * as lra-report if it is called by that name, else as lra-probe. CMakeLists.txt renames their
 * main() functions. */
#include <string.h>

int lra_probe_main(int argc, char **argv);
int lra_report_main(int argc, char **argv);

int main(int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";
    return strcmp(name, "lra-report") == 0 ? lra_report_main(argc, argv)
                                           : lra_probe_main(argc, argv);
}
