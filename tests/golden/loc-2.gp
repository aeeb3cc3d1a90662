# loc-2: ListOps, preset small, resconv
# run 0000000500000000, run 0000000500000001, run 0000000500000002, data 0123456789abcdef, run 0000000900000000
# 'gnuplot loc-2.gp' in this folder draws loc-2.pdf, .svg and .png.
if (ARGC == 0) call ARG0 'pdf'; call ARG0 'svg'; call ARG0 'png'; exit
reset
set encoding utf8
if (ARG1 eq 'pdf') set terminal pdfcairo size 3.346in,3.118in font 'Sans,8' fontscale 0.75 linewidth 1 dashlength 1.8 pointscale 0.8 noenhanced background rgb 'white'
if (ARG1 eq 'svg') set terminal svg size 321,299 fixed font 'sans-serif,8' fontscale 1.3333 linewidth 0.667 noenhanced background rgb 'white'
if (ARG1 eq 'png') set terminal pngcairo size 1004,935 font 'Sans,8' fontscale 3.125 linewidth 2.083 dashlength 2 pointscale 3.26 noenhanced background rgb 'white'
if (ARGC < 2) set output 'loc-2.'.ARG1
set datafile missing '?'
set border 3 lw 1.2
set tics nomirror out scale 0.5
set grid ytics lt 1 lw 1 lc rgb '#dddddd'
set style fill solid noborder
unset key
set style arrow 1 heads fixed size screen 0.00705882,90 lc rgb '#111111' lw 1.6
set style arrow 2 heads fixed size screen 0.00941176,90 lc rgb '#ffffff' lw 3.6
set label 'ListOps, preset small, resconv' at screen 0.5, screen 0.9727 center
set object rectangle from screen 0.1353,0.9068 to screen 0.2118,0.9295 fc rgb '#56b8a9' fs solid border lc rgb '#333333' lw 0.6
set label 'K = 5 (3 seeds)' at screen 0.2294,0.9182 left
set object rectangle from screen 0.1353,0.8614 to screen 0.2118,0.8841 fc rgb '#0a1f5c' fs solid border lc rgb '#333333' lw 0.6
set label 'K = 9 (1 seed)' at screen 0.2294,0.8727 left
set arrow from screen 0.5316,0.9182 to screen 0.6081,0.9182 arrowstyle 1
set label '95 % interval' at screen 0.6258,0.9182 left
set label '' at screen 0.5699,0.8727 point pt 8 ps 0.8 lw 2 lc rgb '#333333'
set label 'shallow A, depth 2' at screen 0.6258,0.8727 left

set lmargin at screen 0.1353
set rmargin at screen 0.9882
set bmargin at screen 0.07576
set tmargin at screen 0.8184
set label 'accuracy minus greedy (points)' at screen 0.02941, screen 0.4471 center rotate
set yrange [0:84.9609]
set xrange [-1.1:19.6]
set boxwidth 0.9
set xtics scale 0 ('MIN' 0.8, 'MAX' 6, 'MED' 11.2, 'SM (minus 10 %%)' 16.4)
set arrow from graph 0, first 0 to graph 1, first 0 nohead lw 1.2
plot 'loc-2.dat' index 0 using 1:2 with boxes fc rgb '#56b8a9' fs solid border lc rgb '#333333' lw 0.6, \
     'loc-2.dat' index 1 using 1:2 with boxes fc rgb '#0a1f5c' fs solid border lc rgb '#333333' lw 0.6, \
     '' index 0 using 1:3:(0):($4-$3) with vectors arrowstyle 2, \
     '' index 0 using 1:3:(0):($4-$3) with vectors arrowstyle 1, \
     '' index 1 using 1:3:(0):($4-$3) with vectors arrowstyle 2, \
     '' index 1 using 1:3:(0):($4-$3) with vectors arrowstyle 1, \
     '' index 2 using 1:2 with points lc rgb '#333333' lw 1.6 pt 8 ps 0.8
set output
