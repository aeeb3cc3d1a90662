/* lra-report: the command line. */
#include <stdio.h>

int main(void)
{
    fputs("lra-report\n", stderr);
    return 2;
}
