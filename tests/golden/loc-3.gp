# loc-3: ListOps, preset small: resconv K = 9, best of 2 models on test, 1 seed; accuracy 86.67 % (81.78 to 90.39)
# run 0000000900000000, data 0123456789abcdef
# 'gnuplot loc-3.gp' in this folder draws loc-3.pdf, .svg and .png.
if (ARGC == 0) call ARG0 'pdf'; call ARG0 'svg'; call ARG0 'png'; exit
reset
set encoding utf8
if (ARG1 eq 'pdf') set terminal pdfcairo size 7.008in,4.882in font 'Sans,8' fontscale 0.75 linewidth 1 dashlength 1.8 pointscale 0.8 noenhanced background rgb 'white'
if (ARG1 eq 'svg') set terminal svg size 673,469 fixed font 'sans-serif,8' fontscale 1.3333 linewidth 0.667 noenhanced background rgb 'white'
if (ARG1 eq 'png') set terminal pngcairo size 2102,1465 font 'Sans,8' fontscale 3.125 linewidth 2.083 dashlength 2 pointscale 3.26 noenhanced background rgb 'white'
if (ARGC < 2) set output 'loc-3.'.ARG1
set datafile missing '?'
set border 3 lw 1.2
set tics nomirror out scale 0.5
set grid ytics lt 1 lw 1 lc rgb '#dddddd'
set style fill solid noborder
unset key
set style arrow 1 heads fixed size screen 0.00337079,90 lc rgb '#111111' lw 1.6
set style arrow 2 heads fixed size screen 0.00449438,90 lc rgb '#ffffff' lw 3.6
set label 'ListOps, preset small: resconv K = 9, best of 2 models on test, 1 seed; accuracy 86.67 % (81.78 to 90.39)' at screen 0.5, screen 0.9826 center
set multiplot
set xrange [-0.6:9.6]
set xtics 1 scale 0
set boxwidth 0.75
set object rectangle from screen 0.07303,0.9405 to screen 0.1096,0.955 fc rgb '#a6d8c4' fs solid noborder
set label 'recall of the label' at screen 0.118,0.9477 left
set arrow from screen 0.2797,0.9477 to screen 0.3163,0.9477 arrowstyle 1
set label '95 % interval' at screen 0.3247,0.9477 left
set label '' at screen 0.4673,0.9477 point pt 4 ps 0.7 lw 2 lc rgb '#D55E00'
set label 'frequency of the label among predictions (null value)' at screen 0.494,0.9477 left
set label 'recall (%)' at screen 0.01685, screen 0.8065 center rotate
set format x ''
set yrange [0:100]

set lmargin at screen 0.07303
set rmargin at screen 0.264
set bmargin at screen 0.7137
set tmargin at screen 0.8992
set label '(a) MIN, 60 examples' at graph 0, screen 0.9194 left
set format y '%g'
plot 'loc-3.dat' index 0 using 1:3 with boxes lc rgb '#a6d8c4', \
     '' index 0 using 1:4:(0):($5-$4) with vectors arrowstyle 1, \
     '' index 0 using 1:6 with points lc rgb '#D55E00' lw 1.8 pt 4 ps 0.7
unset label
unset arrow
unset object

set lmargin at screen 0.2865
set rmargin at screen 0.4775
set bmargin at screen 0.7137
set tmargin at screen 0.8992
set label '(b) MAX, 60 examples' at graph 0, screen 0.9194 left
set format y ''
plot 'loc-3.dat' index 1 using 1:3 with boxes lc rgb '#a6d8c4', \
     '' index 1 using 1:4:(0):($5-$4) with vectors arrowstyle 1, \
     '' index 1 using 1:6 with points lc rgb '#D55E00' lw 1.8 pt 4 ps 0.7
unset label
unset arrow
unset object

set lmargin at screen 0.5
set rmargin at screen 0.691
set bmargin at screen 0.7137
set tmargin at screen 0.8992
set label '(c) MED, 60 examples' at graph 0, screen 0.9194 left
set format y ''
plot 'loc-3.dat' index 2 using 1:3 with boxes lc rgb '#a6d8c4', \
     '' index 2 using 1:4:(0):($5-$4) with vectors arrowstyle 1, \
     '' index 2 using 1:6 with points lc rgb '#D55E00' lw 1.8 pt 4 ps 0.7
unset label
unset arrow
unset object

set lmargin at screen 0.7135
set rmargin at screen 0.9045
set bmargin at screen 0.7137
set tmargin at screen 0.8992
set label '(d) SM, 60 examples' at graph 0, screen 0.9194 left
set format y ''
plot 'loc-3.dat' index 3 using 1:3 with boxes lc rgb '#a6d8c4', \
     '' index 3 using 1:4:(0):($5-$4) with vectors arrowstyle 1, \
     '' index 3 using 1:6 with points lc rgb '#D55E00' lw 1.8 pt 4 ps 0.7
unset label
unset arrow
unset object
set label 'true label' at screen 0.01685, screen 0.5242 center rotate
set label '% of the true label' at screen 0.9888, screen 0.5242 center rotate
set yrange [-0.5:9.5]
set ytics 1 scale 0
unset grid
set xlabel 'predicted label' offset 0,0.6
set format x '%g'
set palette defined (0 '#ffffff', 0.35 '#9ecae1', 0.7 '#0072B2', 1 '#08306b')
set cbrange [0:100]
set cbtics 25 scale 0.3 offset -0.6,0
set colorbox user origin screen 0.9129, screen 0.3992 size screen 0.01236, screen 0.25

set lmargin at screen 0.07303
set rmargin at screen 0.264
set bmargin at screen 0.3992
set tmargin at screen 0.6492
set label '(e)' at graph 0, screen 0.6694 left
set format y '%g'
plot 'loc-3.dat' index 4 matrix with image pixels notitle
unset colorbox
unset label

set lmargin at screen 0.2865
set rmargin at screen 0.4775
set bmargin at screen 0.3992
set tmargin at screen 0.6492
set label '(f)' at graph 0, screen 0.6694 left
set format y ''
plot 'loc-3.dat' index 5 matrix with image pixels notitle
unset colorbox
unset label

set lmargin at screen 0.5
set rmargin at screen 0.691
set bmargin at screen 0.3992
set tmargin at screen 0.6492
set label '(g)' at graph 0, screen 0.6694 left
set format y ''
plot 'loc-3.dat' index 6 matrix with image pixels notitle
unset colorbox
unset label

set lmargin at screen 0.7135
set rmargin at screen 0.9045
set bmargin at screen 0.3992
set tmargin at screen 0.6492
set label '(h)' at graph 0, screen 0.6694 left
set format y ''
plot 'loc-3.dat' index 7 matrix with image pixels notitle
unset colorbox
unset label
set label 'examples (%)' at screen 0.01685, screen 0.1613 center rotate
set object rectangle from screen 0.07303,0.2806 to screen 0.1096,0.2952 fc rgb '#9ecae1' fs solid noborder
set label 'predicted labels' at screen 0.118,0.2879 left
set label '' at screen 0.2863,0.2879 point pt 4 ps 0.7 lw 2 lc rgb '#D55E00'
set label 'true labels' at screen 0.3129,0.2879 left
set grid ytics
set yrange [0:77]
set ytics autofreq scale 0.5
set xlabel 'label' offset 0,0.6

set lmargin at screen 0.07303
set rmargin at screen 0.264
set bmargin at screen 0.08065
set tmargin at screen 0.2419
set label '(i)' at graph 0, screen 0.2621 left
set format y '%g'
plot 'loc-3.dat' index 0 using 1:6 with boxes lc rgb '#9ecae1', \
     '' index 0 using 1:7 with points lc rgb '#D55E00' lw 1.8 pt 4 ps 0.7
unset label
unset arrow
unset object

set lmargin at screen 0.2865
set rmargin at screen 0.4775
set bmargin at screen 0.08065
set tmargin at screen 0.2419
set label '(j)' at graph 0, screen 0.2621 left
set format y ''
plot 'loc-3.dat' index 1 using 1:6 with boxes lc rgb '#9ecae1', \
     '' index 1 using 1:7 with points lc rgb '#D55E00' lw 1.8 pt 4 ps 0.7
unset label
unset arrow
unset object

set lmargin at screen 0.5
set rmargin at screen 0.691
set bmargin at screen 0.08065
set tmargin at screen 0.2419
set label '(k)' at graph 0, screen 0.2621 left
set format y ''
plot 'loc-3.dat' index 2 using 1:6 with boxes lc rgb '#9ecae1', \
     '' index 2 using 1:7 with points lc rgb '#D55E00' lw 1.8 pt 4 ps 0.7
unset label
unset arrow
unset object

set lmargin at screen 0.7135
set rmargin at screen 0.9045
set bmargin at screen 0.08065
set tmargin at screen 0.2419
set label '(l)' at graph 0, screen 0.2621 left
set format y ''
plot 'loc-3.dat' index 3 using 1:6 with boxes lc rgb '#9ecae1', \
     '' index 3 using 1:7 with points lc rgb '#D55E00' lw 1.8 pt 4 ps 0.7
unset label
unset arrow
unset object
unset multiplot
set output
