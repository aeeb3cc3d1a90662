# locality: Distance of influential tokens, at initialisation and after training: listops, quick, f32
# run 0074720000000000, run 0074720000000001, run 0072650000000500, run 0072650000000501, run 006c730000000000, run 0073700000000000, data 0123456789abcdef
# 'gnuplot locality.gp' in this folder draws locality.pdf, .svg and .png.
if (ARGC == 0) call ARG0 'pdf'; call ARG0 'svg'; call ARG0 'png'; exit
reset
set encoding utf8
if (ARG1 eq 'pdf') set terminal pdfcairo size 7.008in,2.076in font 'Sans,8' fontscale 0.75 linewidth 1 dashlength 1.8 pointscale 0.8 noenhanced background rgb 'white'
if (ARG1 eq 'svg') set terminal svg size 673,199 fixed font 'sans-serif,8' fontscale 1.3333 linewidth 0.667 noenhanced background rgb 'white'
if (ARG1 eq 'png') set terminal pngcairo size 2102,623 font 'Sans,8' fontscale 3.125 linewidth 2.083 dashlength 2 pointscale 3.26 noenhanced background rgb 'white'
if (ARGC < 2) set output 'locality.'.ARG1
set datafile missing '?'
set border 3 lw 1.2
set tics nomirror out scale 0.5
set grid ytics lt 1 lw 1 lc rgb '#dddddd'
set style fill solid noborder
unset key
set style arrow 1 heads fixed size screen 0.00337079,90 lc rgb '#111111' lw 1.6
set style arrow 2 heads fixed size screen 0.00449438,90 lc rgb '#ffffff' lw 3.6
set label 'Distance of influential tokens, at initialisation and after training: listops, quick, f32' at screen 0.5, screen 0.959 center
set multiplot
set grid xtics ytics lt 1 lw 0.8 lc rgb '#e4e4e4'
set arrow from screen 0.1449,0.8771 to screen 0.1815,0.8771 nohead lw 2.2 dt 1 lc rgb '#D55E00'
set label '' at screen 0.1632,0.8771 point pt 7 ps 0.65 lw 2 lc rgb '#D55E00'
set label 'attention' at screen 0.1899,0.8771 left
set arrow from screen 0.1449,0.8088 to screen 0.1815,0.8088 nohead lw 2.21 dt 1 lc rgb '#004A8F'
set label '' at screen 0.1632,0.8088 point pt 5 ps 0.6 lw 2 lc rgb '#004A8F'
set label 'kernels' at screen 0.1899,0.8088 left
set arrow from screen 0.1449,0.7405 to screen 0.1815,0.7405 nohead lw 2.22 dt 1 lc rgb '#000000'
set label '' at screen 0.1632,0.7405 point pt 9 ps 0.75 lw 2 lc rgb '#000000'
set label 'neither' at screen 0.1899,0.7405 left
set label '' at screen 0.2995,0.8771 point pt 6 ps 0.5 lw 2 lc rgb '#444444'
set label 'at initialisation (hollow)' at screen 0.3262,0.8771 left
set label '' at screen 0.2995,0.8088 point pt 8 ps 0.75 lw 2 lc rgb '#000000'
set label 'distance limit of the complete model' at screen 0.3262,0.8088 left
set arrow from screen 0.2813,0.7405 to screen 0.3178,0.7405 nohead lw 1.35 dt (8,4) lc rgb '#888888'
set label 'uniform weights' at screen 0.3262,0.7405 left
set arrow from screen 0.644,0.8771 to screen 0.6805,0.8771 nohead lw 1.36 dt 1 lc rgb '#888888'
set label 'chance' at screen 0.6889,0.8771 left
set label 'mean distance without own token (tokens)' at screen 0.3133, screen 0.04173 center

set lmargin at screen 0.1449
set rmargin at screen 0.4817
set bmargin at screen 0.1897
set tmargin at screen 0.6449
set yrange [0.4:6.6]
set ytics ('mask: both' 6, 'resconv K = 5' 5, 'LSTM' 4, 'Transformer' 3, 'mask: unknown' 2, 'SPADE' 1) scale 0
set logscale x
set xrange [1:14.8409]
set xtics ('1' 1, '2' 2, '5' 5, '10' 10) scale 0.5
plot NaN, \
     'locality.dat' index 0 using 17:($1-0.5):(0):(1) with vectors nohead lw 1.3 dt (8,4) lc rgb '#888888', \
     'locality.dat' index 1 using 17:($1-0.5):(0):(1) with vectors nohead lw 1.3 dt (8,4) lc rgb '#888888', \
     'locality.dat' index 2 using 17:($1-0.5):(0):(1) with vectors nohead lw 1.3 dt (8,4) lc rgb '#888888', \
     'locality.dat' index 3 using 17:($1-0.5):(0):(1) with vectors nohead lw 1.3 dt (8,4) lc rgb '#888888', \
     'locality.dat' index 0 using 5:1:($2-$5):(0) with vectors nohead lw 0.8 lc rgb '#aaaaaa', \
     'locality.dat' index 1 using 5:1:($2-$5):(0) with vectors nohead lw 0.8 lc rgb '#aaaaaa', \
     'locality.dat' index 2 using 5:1:($2-$5):(0) with vectors nohead lw 0.8 lc rgb '#aaaaaa', \
     'locality.dat' index 3 using 5:1:($2-$5):(0) with vectors nohead lw 0.8 lc rgb '#aaaaaa', \
     'locality.dat' index 0 using 6:1:($7-$6):(0) with vectors nohead lw 1.2 lc rgb '#D55E00', \
     'locality.dat' index 1 using 6:1:($7-$6):(0) with vectors nohead lw 1.2 lc rgb '#004A8F', \
     'locality.dat' index 2 using 6:1:($7-$6):(0) with vectors nohead lw 1.2 lc rgb '#3AA37F', \
     'locality.dat' index 3 using 6:1:($7-$6):(0) with vectors nohead lw 1.2 lc rgb '#000000', \
     'locality.dat' index 0 using 5:1 with points pt 6 ps 0.65 lc rgb '#D55E00', \
     'locality.dat' index 1 using 5:1 with points pt 4 ps 0.6 lc rgb '#004A8F', \
     'locality.dat' index 2 using 5:1 with points pt 12 ps 0.8 lc rgb '#3AA37F', \
     'locality.dat' index 3 using 5:1 with points pt 8 ps 0.75 lc rgb '#000000', \
     'locality.dat' index 0 using 3:1:($4-$3):(0) with vectors nohead lw 2.2 lc rgb '#D55E00', \
     'locality.dat' index 1 using 3:1:($4-$3):(0) with vectors nohead lw 2.2 lc rgb '#004A8F', \
     'locality.dat' index 2 using 3:1:($4-$3):(0) with vectors nohead lw 2.2 lc rgb '#3AA37F', \
     'locality.dat' index 3 using 3:1:($4-$3):(0) with vectors nohead lw 2.2 lc rgb '#000000', \
     'locality.dat' index 0 using 2:1 with points pt 7 ps 0.65 lc rgb '#D55E00', \
     'locality.dat' index 1 using 2:1 with points pt 5 ps 0.6 lc rgb '#004A8F', \
     'locality.dat' index 2 using 2:1 with points pt 13 ps 0.8 lc rgb '#3AA37F', \
     'locality.dat' index 3 using 2:1 with points pt 9 ps 0.75 lc rgb '#000000'
unset logscale x
unset arrow
unset label
unset object
unset label
set label '99 % limit per layer (tokens)' at screen 0.6176, screen 0.04173 center

set lmargin at screen 0.5013
set rmargin at screen 0.7338
set bmargin at screen 0.1897
set tmargin at screen 0.6449
set yrange [0.4:6.6]
set ytics ('' 6, '' 5, '' 4, '' 3, '' 2, '' 1) scale 0
set xrange [-0.3:5.65755]
set xtics ('0' 0, '1' 1, '4' 2.32193, '16' 4.08746, '40' 5.35755) scale 0.5
plot NaN, \
     'locality.dat' index 0 using 9:1:($10-$9):(0) with vectors nohead lw 2.2 lc rgb '#D55E00', \
     'locality.dat' index 1 using 9:1:($10-$9):(0) with vectors nohead lw 2.2 lc rgb '#004A8F', \
     'locality.dat' index 2 using 9:1:($10-$9):(0) with vectors nohead lw 2.2 lc rgb '#3AA37F', \
     'locality.dat' index 3 using 9:1:($10-$9):(0) with vectors nohead lw 2.2 lc rgb '#000000', \
     'locality.dat' index 0 using 8:1 with points pt 7 ps 0.65 lc rgb '#D55E00', \
     'locality.dat' index 1 using 8:1 with points pt 5 ps 0.6 lc rgb '#004A8F', \
     'locality.dat' index 2 using 8:1 with points pt 13 ps 0.8 lc rgb '#3AA37F', \
     'locality.dat' index 3 using 8:1 with points pt 9 ps 0.75 lc rgb '#000000', \
     'locality.dat' index 0 using 11:1 with points pt 2 ps 0.55 lw 1.5 lc rgb '#000000', \
     'locality.dat' index 1 using 11:1 with points pt 2 ps 0.55 lw 1.5 lc rgb '#000000', \
     'locality.dat' index 2 using 11:1 with points pt 2 ps 0.55 lw 1.5 lc rgb '#000000', \
     'locality.dat' index 3 using 11:1 with points pt 2 ps 0.55 lw 1.5 lc rgb '#000000', \
     'locality.dat' index 0 using 18:1 with points pt 8 ps 0.75 lw 1.3 lc rgb '#000000', \
     'locality.dat' index 1 using 18:1 with points pt 8 ps 0.75 lw 1.3 lc rgb '#000000', \
     'locality.dat' index 2 using 18:1 with points pt 8 ps 0.75 lw 1.3 lc rgb '#000000', \
     'locality.dat' index 3 using 18:1 with points pt 8 ps 0.75 lw 1.3 lc rgb '#000000'
unset label
set label 'accuracy (%)' at screen 0.8697, screen 0.04173 center

set lmargin at screen 0.7535
set rmargin at screen 0.986
set bmargin at screen 0.1897
set tmargin at screen 0.6449
set yrange [0.4:6.6]
set ytics ('' 6, '' 5, '' 4, '' 3, '' 2, '' 1) scale 0
set xrange [22.088:95.1118]
set xtics 40,20,92.1908 scale 0.5
set arrow from first 26, graph 0 to first 26, graph 1 nohead lw 1.3 dt 1 lc rgb '#888888' back
plot NaN, \
     'locality.dat' index 0 using 15:1:($16-$15):(0) with vectors nohead lw 2.2 lc rgb '#D55E00', \
     'locality.dat' index 1 using 15:1:($16-$15):(0) with vectors nohead lw 2.2 lc rgb '#004A8F', \
     'locality.dat' index 2 using 15:1:($16-$15):(0) with vectors nohead lw 2.2 lc rgb '#3AA37F', \
     'locality.dat' index 3 using 15:1:($16-$15):(0) with vectors nohead lw 2.2 lc rgb '#000000', \
     'locality.dat' index 0 using 14:1 with points pt 7 ps 0.65 lc rgb '#D55E00', \
     'locality.dat' index 1 using 14:1 with points pt 5 ps 0.6 lc rgb '#004A8F', \
     'locality.dat' index 2 using 14:1 with points pt 13 ps 0.8 lc rgb '#3AA37F', \
     'locality.dat' index 3 using 14:1 with points pt 9 ps 0.75 lc rgb '#000000'
unset arrow
unset label
unset multiplot
set output
