/* lra-probe: the command line. */
#include <stdio.h>

int main(void)
{
    fputs("lra-probe\n", stderr);
    return 2;
}
