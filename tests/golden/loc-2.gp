set encoding utf8
set datafile missing '?'
set border 3 lw 0.8
set tics nomirror out scale 0.6 font ',8'
set grid ytics lt 1 lw 0.6 lc rgb '#dddddd'
set style fill transparent solid 0.2 noborder
set label 'ListOps, preset small, resconv, 95 % intervals' at screen 0.5, screen 1 center offset 0,-0.55 font ',9' noenhanced

set lmargin at screen 0.15
set rmargin at screen 0.975
set bmargin at screen 0.075
set tmargin at screen 0.818
set label 'accuracy - greedy (points)' at screen 0.03, screen 0.4465 center rotate font ',9'
set key at screen 0.5, screen 0.955 center top vertical maxrows 3 font ',8' samplen 2 spacing 1.05 width 2 reverse Left noenhanced
set xrange [-1.1:15.6]
set boxwidth 0.86
set xtics scale 0 ('MIN' 0.8, 'MAX' 5, 'MED' 9.2, 'SM (- 10 %%)' 13.4) font ',9'
set arrow from graph 0, first 0 to graph 1, first 0 nohead lw 0.8 back
plot 'loc-2.dat' index 0 using 1:2 with boxes lc rgb '#0072B2' fs solid 0.75 noborder title 'K = 5 (3 seeds)', \
     'loc-2.dat' index 1 using 1:2 with boxes lc rgb '#D55E00' fs solid 0.75 noborder title 'K = 9 (1 seed)', \
     'loc-2.dat' index 2 using 1:2 with points lc rgb '#333333' lw 1.2 pt 8 ps 0.6 title 'shallow-a-2', \
     'loc-2.dat' index 3 using 1:2 with points lc rgb '#333333' lw 1.2 pt 9 ps 0.6 title 'shallow-a-3', \
     'loc-2.dat' index 4 using 1:2 with points lc rgb '#333333' lw 1.2 pt 6 ps 0.6 title 'shallow-b-2', \
     'loc-2.dat' index 5 using 1:2 with points lc rgb '#333333' lw 1.2 pt 7 ps 0.6 title 'shallow-b-3', \
     'loc-2.dat' index 0 using 1:3:(0):($4-$3) with vectors nohead lc rgb '#333333' lw 1 notitle, \
     'loc-2.dat' index 1 using 1:3:(0):($4-$3) with vectors nohead lc rgb '#333333' lw 1 notitle
