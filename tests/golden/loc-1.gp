set encoding utf8
set datafile missing '?'
set border 3 lw 0.8
set tics nomirror out scale 0.6 font ',8'
set grid ytics lt 1 lw 0.6 lc rgb '#dddddd'
set style fill transparent solid 0.2 noborder
set multiplot
set label 'ListOps, small: labels of 24000 training rows' at screen 0.5, screen 1 center offset 0,-0.55 font ',9' noenhanced
set key at screen 0.5, screen 0.955 center top font ',8' samplen 2 reverse Left
set xrange [-0.7:9.7]
set xtics 1 scale 0
set yrange [0:71.2409]
set boxwidth 0.75

set lmargin at screen 0.15
set rmargin at screen 0.55
set bmargin at screen 0.52
set tmargin at screen 0.83
set label '(a) MAX' at graph 0.5, graph 1.07 center font ',9'
set label 'rows (%)' at screen 0.03, screen 0.675 center rotate font ',9'
set format y '%g'
set format x ''
plot 'loc-1.dat' index 0 using 1:3 with boxes lc rgb '#0072B2' fs solid 0.45 noborder title 'training split, 95 %', \
     '' index 0 using 1:4:(0):($5-$4) with vectors nohead lc rgb '#333333' lw 1 notitle, \
     '' index 0 using 1:6 with points lc rgb '#D55E00' lw 1.2 pt 4 ps 0.5 title 'generator'
unset key
unset label

set lmargin at screen 0.575
set rmargin at screen 0.975
set bmargin at screen 0.52
set tmargin at screen 0.83
set label '(b) MED' at graph 0.5, graph 1.07 center font ',9'
set format y ''
set format x ''
plot 'loc-1.dat' index 1 using 1:3 with boxes lc rgb '#0072B2' fs solid 0.45 noborder title 'training split, 95 %', \
     '' index 1 using 1:4:(0):($5-$4) with vectors nohead lc rgb '#333333' lw 1 notitle, \
     '' index 1 using 1:6 with points lc rgb '#D55E00' lw 1.2 pt 4 ps 0.5 title 'generator'
unset key
unset label

set lmargin at screen 0.15
set rmargin at screen 0.55
set bmargin at screen 0.13
set tmargin at screen 0.44
set label '(c) MIN' at graph 0.5, graph 1.07 center font ',9'
set label 'rows (%)' at screen 0.03, screen 0.285 center rotate font ',9'
set format y '%g'
set format x '%g'
set xlabel 'label' font ',9' offset 0,0.5
plot 'loc-1.dat' index 2 using 1:3 with boxes lc rgb '#0072B2' fs solid 0.45 noborder title 'training split, 95 %', \
     '' index 2 using 1:4:(0):($5-$4) with vectors nohead lc rgb '#333333' lw 1 notitle, \
     '' index 2 using 1:6 with points lc rgb '#D55E00' lw 1.2 pt 4 ps 0.5 title 'generator'
unset key
unset label

set lmargin at screen 0.575
set rmargin at screen 0.975
set bmargin at screen 0.13
set tmargin at screen 0.44
set label '(d) SM' at graph 0.5, graph 1.07 center font ',9'
set format y ''
set format x '%g'
set xlabel 'label' font ',9' offset 0,0.5
plot 'loc-1.dat' index 3 using 1:3 with boxes lc rgb '#0072B2' fs solid 0.45 noborder title 'training split, 95 %', \
     '' index 3 using 1:4:(0):($5-$4) with vectors nohead lc rgb '#333333' lw 1 notitle, \
     '' index 3 using 1:6 with points lc rgb '#D55E00' lw 1.2 pt 4 ps 0.5 title 'generator'
unset key
unset label
unset multiplot
