set encoding utf8
set datafile missing '?'
set border 3 lw 0.8
set tics nomirror out scale 0.6 font ',8'
set grid ytics lt 1 lw 0.6 lc rgb '#dddddd'
set style fill transparent solid 0.2 noborder
set label 'xor, preset quick, resconv, 3 seeds, 95 % intervals' at screen 0.5, screen 1 center offset 0,-0.55 font ',9' noenhanced

set lmargin at screen 0.15
set rmargin at screen 0.975
set bmargin at screen 0.14
set tmargin at screen 0.785
set label 'accuracy (%)' at screen 0.03, screen 0.4625 center rotate font ',9'
set key at screen 0.56, screen 0.93 center top horizontal maxrows 1 font ',8' samplen 1.2 width 0.5 reverse Left noenhanced
set xrange [2.06525:6.85659]
set yrange [45.1362:103.658]
set xtics scale 0.6 ('8' 3, '16' 4, '32' 5, '64' 6)
set xlabel 'distance of the dependency (tokens)' font ',9' offset 0,0.5
set arrow from 2.32193, graph 0 to 2.32193, graph 1 nohead lw 1.4 dt (3,3) lc rgb '#0072B2' back
set label '5' at 2.32193, graph 1.045 center font ',8' tc rgb '#0072B2'
set arrow from 3.70044, graph 0 to 3.70044, graph 1 nohead lw 1.4 dt (3,3) lc rgb '#D55E00' back
set label '13' at 3.70044, graph 1.045 center font ',8' tc rgb '#D55E00'
set arrow from 4.64386, graph 0 to 4.64386, graph 1 nohead lw 1.4 dt (3,3) lc rgb '#009E73' back
set label '25' at 4.64386, graph 1.045 center font ',8' tc rgb '#009E73'
set arrow from 5.61471, graph 0 to 5.61471, graph 1 nohead lw 1.4 dt (3,3) lc rgb '#CC79A7' back
set label '49' at 5.61471, graph 1.045 center font ',8' tc rgb '#CC79A7'
set arrow from 6.59991, graph 0 to 6.59991, graph 1 nohead lw 1.4 dt (3,3) lc rgb '#E69F00' back
set label '97' at 6.59991, graph 1.045 center font ',8' tc rgb '#E69F00'
set label '2R+1 =' at graph -0.012, graph 1.045 right font ',8'
set arrow from graph 0, first 50 to graph 1, first 50 nohead lw 1 dt 3 lc rgb '#666666' back
set label 'chance' at 2.12721, 50 left offset 0,0.45 textcolor rgb '#555555' font ',7' noenhanced
plot 'sweep.dat' index 0 using 1:3 with lines lc rgb '#0072B2' lw 1.4 notitle, \
     '' index 0 using 1:4:(0):($5-$4) with vectors nohead lc rgb '#0072B2' lw 1.2 notitle, \
     'sweep.dat' index 1 using 1:3 with lines lc rgb '#D55E00' lw 1.4 notitle, \
     '' index 1 using 1:4:(0):($5-$4) with vectors nohead lc rgb '#D55E00' lw 1.2 notitle, \
     'sweep.dat' index 2 using 1:3 with lines lc rgb '#009E73' lw 1.4 notitle, \
     '' index 2 using 1:4:(0):($5-$4) with vectors nohead lc rgb '#009E73' lw 1.2 notitle, \
     'sweep.dat' index 3 using 1:3 with lines lc rgb '#CC79A7' lw 1.4 notitle, \
     '' index 3 using 1:4:(0):($5-$4) with vectors nohead lc rgb '#CC79A7' lw 1.2 notitle, \
     'sweep.dat' index 4 using 1:3 with lines lc rgb '#E69F00' lw 1.4 notitle, \
     '' index 4 using 1:4:(0):($5-$4) with vectors nohead lc rgb '#E69F00' lw 1.2 notitle, \
     'sweep.dat' index 0 using 1:7 with points lc rgb '#ffffff' pt 7 ps 0.7 notitle, \
     '' index 0 using 1:7 with points lc rgb '#0072B2' lw 1.2 pt 6 ps 0.7 notitle, \
     '' index 0 using 1:6 with points lc rgb '#0072B2' pt 7 ps 0.7 notitle, \
     NaN with linespoints lc rgb '#0072B2' lw 1.4 pt 7 ps 0.7 title 'K = 5', \
     'sweep.dat' index 1 using 1:7 with points lc rgb '#ffffff' pt 5 ps 0.7 notitle, \
     '' index 1 using 1:7 with points lc rgb '#D55E00' lw 1.2 pt 4 ps 0.7 notitle, \
     '' index 1 using 1:6 with points lc rgb '#D55E00' pt 5 ps 0.7 notitle, \
     NaN with linespoints lc rgb '#D55E00' lw 1.4 pt 5 ps 0.7 title 'K = 13', \
     'sweep.dat' index 2 using 1:7 with points lc rgb '#ffffff' pt 9 ps 0.7 notitle, \
     '' index 2 using 1:7 with points lc rgb '#009E73' lw 1.2 pt 8 ps 0.7 notitle, \
     '' index 2 using 1:6 with points lc rgb '#009E73' pt 9 ps 0.7 notitle, \
     NaN with linespoints lc rgb '#009E73' lw 1.4 pt 9 ps 0.7 title 'K = 25', \
     'sweep.dat' index 3 using 1:7 with points lc rgb '#ffffff' pt 11 ps 0.7 notitle, \
     '' index 3 using 1:7 with points lc rgb '#CC79A7' lw 1.2 pt 10 ps 0.7 notitle, \
     '' index 3 using 1:6 with points lc rgb '#CC79A7' pt 11 ps 0.7 notitle, \
     NaN with linespoints lc rgb '#CC79A7' lw 1.4 pt 11 ps 0.7 title 'K = 49', \
     'sweep.dat' index 4 using 1:7 with points lc rgb '#ffffff' pt 13 ps 0.7 notitle, \
     '' index 4 using 1:7 with points lc rgb '#E69F00' lw 1.2 pt 12 ps 0.7 notitle, \
     '' index 4 using 1:6 with points lc rgb '#E69F00' pt 13 ps 0.7 notitle, \
     NaN with linespoints lc rgb '#E69F00' lw 1.4 pt 13 ps 0.7 title 'K = 97'
