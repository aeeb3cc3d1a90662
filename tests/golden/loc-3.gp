set encoding utf8
set datafile missing '?'
set border 3 lw 0.8
set tics nomirror out scale 0.6 font ',8'
set grid ytics lt 1 lw 0.6 lc rgb '#dddddd'
set style fill transparent solid 0.2 noborder
set multiplot
set label 'ListOps, preset small: resconv K = 9, 1 seed, the best of 2 models; 86.67 % right (81.78 to 90.39)' at screen 0.5, screen 1 center offset 0,-0.55 font ',9' noenhanced
set xrange [-0.6:9.6]
set xtics 1 scale 0
set boxwidth 0.75
set label 'right (%)' at screen 0.015, screen 0.78 center rotate font ',9'
set key at screen 0.3, screen 0.955 center top font ',8' samplen 2 reverse Left
set format x ''
set yrange [0:100]

set lmargin at screen 0.07
set rmargin at screen 0.26
set bmargin at screen 0.69
set tmargin at screen 0.87
set label 'MIN' at graph 0.5, graph 1.08 center font ',9'
set format y '%g'
plot 'loc-3.dat' index 0 using 1:3 with boxes lc rgb '#009E73' fs solid 0.5 noborder title 'right among rows of the label, 95 %', \
     '' index 0 using 1:4:(0):($5-$4) with vectors nohead lc rgb '#333333' lw 1 notitle, \
     '' index 0 using 1:6 with points lc rgb '#D55E00' lw 1.2 pt 4 ps 0.5 title 'null: how often it is predicted at all'
unset key
unset label

set lmargin at screen 0.2825
set rmargin at screen 0.4725
set bmargin at screen 0.69
set tmargin at screen 0.87
set label 'MAX' at graph 0.5, graph 1.08 center font ',9'
set format y ''
plot 'loc-3.dat' index 1 using 1:3 with boxes lc rgb '#009E73' fs solid 0.5 noborder title 'right among rows of the label, 95 %', \
     '' index 1 using 1:4:(0):($5-$4) with vectors nohead lc rgb '#333333' lw 1 notitle, \
     '' index 1 using 1:6 with points lc rgb '#D55E00' lw 1.2 pt 4 ps 0.5 title 'null: how often it is predicted at all'
unset key
unset label

set lmargin at screen 0.495
set rmargin at screen 0.685
set bmargin at screen 0.69
set tmargin at screen 0.87
set label 'MED' at graph 0.5, graph 1.08 center font ',9'
set format y ''
plot 'loc-3.dat' index 2 using 1:3 with boxes lc rgb '#009E73' fs solid 0.5 noborder title 'right among rows of the label, 95 %', \
     '' index 2 using 1:4:(0):($5-$4) with vectors nohead lc rgb '#333333' lw 1 notitle, \
     '' index 2 using 1:6 with points lc rgb '#D55E00' lw 1.2 pt 4 ps 0.5 title 'null: how often it is predicted at all'
unset key
unset label

set lmargin at screen 0.7075
set rmargin at screen 0.8975
set bmargin at screen 0.69
set tmargin at screen 0.87
set label 'SM' at graph 0.5, graph 1.08 center font ',9'
set format y ''
plot 'loc-3.dat' index 3 using 1:3 with boxes lc rgb '#009E73' fs solid 0.5 noborder title 'right among rows of the label, 95 %', \
     '' index 3 using 1:4:(0):($5-$4) with vectors nohead lc rgb '#333333' lw 1 notitle, \
     '' index 3 using 1:6 with points lc rgb '#D55E00' lw 1.2 pt 4 ps 0.5 title 'null: how often it is predicted at all'
unset key
unset label
set label 'true label' at screen 0.015, screen 0.525 center rotate font ',9'
set yrange [-0.5:9.5]
set ytics 1 scale 0
unset grid
set style fill solid
set xlabel 'predicted label' font ',9' offset 0,0.5
set format x '%g'
set palette defined (0 '#ffffff', 0.35 '#9ecae1', 0.7 '#0072B2', 1 '#08306b')
set cbrange [0:100]
set cbtics 25 scale 0.3 font ',8'
set colorbox user origin screen 0.91, screen 0.395 size screen 0.012, screen 0.26
set label '% of a true label' at screen 0.985, screen 0.525 center rotate font ',8'

set lmargin at screen 0.07
set rmargin at screen 0.26
set bmargin at screen 0.395
set tmargin at screen 0.655
set format y '%g'
plot 'loc-3.dat' index 4 matrix with image pixels notitle
unset colorbox
unset label

set lmargin at screen 0.2825
set rmargin at screen 0.4725
set bmargin at screen 0.395
set tmargin at screen 0.655
set format y ''
plot 'loc-3.dat' index 5 matrix with image pixels notitle
unset colorbox
unset label

set lmargin at screen 0.495
set rmargin at screen 0.685
set bmargin at screen 0.395
set tmargin at screen 0.655
set format y ''
plot 'loc-3.dat' index 6 matrix with image pixels notitle
unset colorbox
unset label

set lmargin at screen 0.7075
set rmargin at screen 0.8975
set bmargin at screen 0.395
set tmargin at screen 0.655
set format y ''
plot 'loc-3.dat' index 7 matrix with image pixels notitle
unset colorbox
unset label
set label 'rows (%)' at screen 0.015, screen 0.195 center rotate font ',9'
set key at screen 0.72, screen 0.955 center top font ',8' samplen 2 reverse Left
set grid ytics
set yrange [0:77]
set ytics autofreq scale 0.6
set xlabel 'label' font ',9' offset 0,0.5

set lmargin at screen 0.07
set rmargin at screen 0.26
set bmargin at screen 0.09
set tmargin at screen 0.3
set format y '%g'
plot 'loc-3.dat' index 0 using 1:6 with boxes lc rgb '#0072B2' fs solid 0.5 noborder title 'predicted labels', \
     '' index 0 using 1:7 with points lc rgb '#D55E00' lw 1.2 pt 4 ps 0.5 title 'true labels'
unset key
unset label

set lmargin at screen 0.2825
set rmargin at screen 0.4725
set bmargin at screen 0.09
set tmargin at screen 0.3
set format y ''
plot 'loc-3.dat' index 1 using 1:6 with boxes lc rgb '#0072B2' fs solid 0.5 noborder title 'predicted labels', \
     '' index 1 using 1:7 with points lc rgb '#D55E00' lw 1.2 pt 4 ps 0.5 title 'true labels'
unset key
unset label

set lmargin at screen 0.495
set rmargin at screen 0.685
set bmargin at screen 0.09
set tmargin at screen 0.3
set format y ''
plot 'loc-3.dat' index 2 using 1:6 with boxes lc rgb '#0072B2' fs solid 0.5 noborder title 'predicted labels', \
     '' index 2 using 1:7 with points lc rgb '#D55E00' lw 1.2 pt 4 ps 0.5 title 'true labels'
unset key
unset label

set lmargin at screen 0.7075
set rmargin at screen 0.8975
set bmargin at screen 0.09
set tmargin at screen 0.3
set format y ''
plot 'loc-3.dat' index 3 using 1:6 with boxes lc rgb '#0072B2' fs solid 0.5 noborder title 'predicted labels', \
     '' index 3 using 1:7 with points lc rgb '#D55E00' lw 1.2 pt 4 ps 0.5 title 'true labels'
unset key
unset label
unset multiplot
