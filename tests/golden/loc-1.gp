# loc-1: ListOps, preset small: labels of 24000 training examples
# run 0000000500000000, data 0123456789abcdef
# 'gnuplot loc-1.gp' in this folder draws loc-1.pdf, .svg and .png.
if (ARGC == 0) call ARG0 'pdf'; call ARG0 'svg'; call ARG0 'png'; exit
reset
set encoding utf8
if (ARG1 eq 'pdf') set terminal pdfcairo size 3.346in,3.189in font 'Sans,8' fontscale 0.75 linewidth 1 dashlength 1.8 pointscale 0.8 noenhanced background rgb 'white'
if (ARG1 eq 'svg') set terminal svg size 321,306 fixed font 'sans-serif,8' fontscale 1.3333 linewidth 0.667 noenhanced background rgb 'white'
if (ARG1 eq 'png') set terminal pngcairo size 1004,957 font 'Sans,8' fontscale 3.125 linewidth 2.083 dashlength 2 pointscale 3.26 noenhanced background rgb 'white'
if (ARGC < 2) set output 'loc-1.'.ARG1
set datafile missing '?'
set border 3 lw 1.2
set tics nomirror out scale 0.5
set grid ytics lt 1 lw 1 lc rgb '#dddddd'
set style fill solid noborder
unset key
set style arrow 1 heads fixed size screen 0.00705882,90 lc rgb '#111111' lw 1.6
set style arrow 2 heads fixed size screen 0.00941176,90 lc rgb '#ffffff' lw 3.6
set label 'ListOps, preset small: labels of 24000 training examples' at screen 0.5, screen 0.9733 center
set multiplot
set xrange [-0.7:9.7]
set xtics 1 scale 0
set yrange [0:71.2409]
set boxwidth 0.75
set object rectangle from screen 0.02941,0.9089 to screen 0.1059,0.9311 fc rgb '#a6cee3' fs solid noborder
set label 'training data' at screen 0.1235,0.92 left
set arrow from screen 0.02941,0.8756 to screen 0.1059,0.8756 nohead lw 3.01 dt 1 lc rgb '#D55E00'
set label 'expected from the generator' at screen 0.1235,0.8756 left
set arrow from screen 0.6505,0.92 to screen 0.727,0.92 arrowstyle 1
set label '95 % interval' at screen 0.7446,0.92 left

set lmargin at screen 0.1353
set rmargin at screen 0.5471
set bmargin at screen 0.5247
set tmargin at screen 0.8272
set label '(a) MAX, 6000 examples' at graph 0.5, graph 1.09 center
set label 'examples (%)' at screen 0.02941, screen 0.6753 center rotate
set format y '%g'
set format x ''
plot 'loc-1.dat' index 0 using 1:3 with boxes lc rgb '#a6cee3', \
     '' index 0 using ($1-0.375):6:(0.75):(0) with vectors nohead lc rgb '#D55E00' lw 3, \
     '' index 0 using 1:4:(0):($5-$4) with vectors arrowstyle 1
unset label
unset arrow
unset object

set lmargin at screen 0.5765
set rmargin at screen 0.9882
set bmargin at screen 0.5247
set tmargin at screen 0.8272
set label '(b) MED, 6000 examples' at graph 0.5, graph 1.09 center
set format y ''
set format x ''
plot 'loc-1.dat' index 1 using 1:3 with boxes lc rgb '#a6cee3', \
     '' index 1 using ($1-0.375):6:(0.75):(0) with vectors nohead lc rgb '#D55E00' lw 3, \
     '' index 1 using 1:4:(0):($5-$4) with vectors arrowstyle 1
unset label
unset arrow
unset object

set lmargin at screen 0.1353
set rmargin at screen 0.5471
set bmargin at screen 0.1296
set tmargin at screen 0.4321
set label '(c) MIN, 6000 examples' at graph 0.5, graph 1.09 center
set label 'examples (%)' at screen 0.02941, screen 0.2802 center rotate
set format y '%g'
set format x '%g'
set xlabel 'label' offset 0,0.6
plot 'loc-1.dat' index 2 using 1:3 with boxes lc rgb '#a6cee3', \
     '' index 2 using ($1-0.375):6:(0.75):(0) with vectors nohead lc rgb '#D55E00' lw 3, \
     '' index 2 using 1:4:(0):($5-$4) with vectors arrowstyle 1
unset label
unset arrow
unset object

set lmargin at screen 0.5765
set rmargin at screen 0.9882
set bmargin at screen 0.1296
set tmargin at screen 0.4321
set label '(d) SM, 6000 examples' at graph 0.5, graph 1.09 center
set format y ''
set format x '%g'
set xlabel 'label' offset 0,0.6
plot 'loc-1.dat' index 3 using 1:3 with boxes lc rgb '#a6cee3', \
     '' index 3 using ($1-0.375):6:(0.75):(0) with vectors nohead lc rgb '#D55E00' lw 3, \
     '' index 3 using 1:4:(0):($5-$4) with vectors arrowstyle 1
unset label
unset arrow
unset object
unset multiplot
set output
