set encoding utf8
set datafile missing '?'
set border 3 lw 0.8
set tics nomirror out scale 0.6 font ',8'
set grid ytics lt 1 lw 0.6 lc rgb '#dddddd'
set style fill transparent solid 0.2 noborder
set logscale x 2
set xrange [9.6:112.5]
set multiplot

set lmargin at screen 0.15
set rmargin at screen 0.975
set bmargin at screen 0.455
set tmargin at screen 0.813
set label 'accuracy (%)' at screen 0.03, screen 0.634 center rotate font ',9'
set label 'listops, small, f32, 1 seed (few-seeds)' at screen 0.5, screen 1 center offset 0,-0.55 font ',9' noenhanced
set key at screen 0.5, screen 0.955 center top horizontal maxcols 1 width -4 font ',8' samplen 3 spacing 1.05 noenhanced
set yrange [9.82986:96.2021]
set xtics ('' 12, '' 90)
set arrow from graph 0, first 24 to graph 1, first 24 nohead lw 1 dt 2 lc rgb '#666666' back
set label 'K = 1, bag of tokens' at 9.888, 24 left offset 0,-0.5 textcolor rgb '#555555' font ',7' noenhanced
set arrow from graph 0, first 26 to graph 1, first 26 nohead lw 1.01 dt 3 lc rgb '#666666' back
set label 'chance' at graph 0.99, first 26 right offset 0,0.45 textcolor rgb '#555555' font ',7' noenhanced
set arrow from graph 0, first 26 to graph 1, first 26 nohead lw 1.02 dt 4 lc rgb '#666666' back
set label 'majority by operator' at 9.888, 26 left offset 0,0.45 textcolor rgb '#555555' font ',7' noenhanced
set arrow from graph 0, first 80 to graph 1, first 80 nohead lw 1.03 dt 1 lc rgb '#666666' back
set x2range [9.6:112.5]
set logscale x2 2
set x2tics ('K = 5' 12, '31' 90)
plot 'loc-T1.dat' index 0 using 1:4:5 with filledcurves lc rgb '#0072B2' notitle, \
     'loc-T1.dat' index 0 using 1:3 with linespoints lc rgb '#0072B2' lw 1.8 dt 1 pt 7 ps 0.5 title 'measured, 95 % band', \
     NaN with lines lc rgb '#666666' lw 1 dt 1 title 'reference: the widest rung'

unset arrow
unset label
unset key
unset x2tics

set lmargin at screen 0.15
set rmargin at screen 0.975
set bmargin at screen 0.115
set tmargin at screen 0.415
set label 'gain' at screen 0.03, screen 0.265 center rotate font ',9'
set xtics ('12' 12, '90' 90)
set xlabel 'reach to each side (tokens)' font ',9' offset 0,0.5
set yrange [0:1.1]
set arrow from graph 0, first 0 to graph 1, first 0 nohead lw 1 dt 3 lc rgb '#666666' back
set label 'chance' at 9.888, 0 left offset 0,0.45 textcolor rgb '#555555' font ',7' noenhanced
set arrow from graph 0, first 1 to graph 1, first 1 nohead lw 1.01 dt 1 lc rgb '#666666' back
set label 'LI = 0.444 (0.143 to 0.667)' at graph 0.98,0.12 right font ',8'
plot 'loc-T1.dat' index 0 using 1:7:8 with filledcurves lc rgb '#0072B2' notitle, \
     'loc-T1.dat' index 0 using 1:6 with linespoints lc rgb '#0072B2' lw 1.8 dt 1 pt 7 ps 0.5 title 'measured, 95 % band', \
     NaN with lines lc rgb '#666666' lw 1 dt 1 title 'reference: the widest rung'
unset multiplot
