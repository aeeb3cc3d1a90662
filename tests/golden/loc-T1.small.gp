set encoding utf8
set datafile missing '?'
set logscale x 2
set xrange [9.6:2500]
set border 3 lw 0.8
set tics nomirror out scale 0.6 font ',8'
set grid ytics lw 0.7 lc rgb '#cccccc' dt 1
set bars 0.6
set lmargin 9
set rmargin 1.5
set xtics ('12' 12, '90' 90)
set multiplot

set size 1,0.6
set origin 0,0.4
set tmargin 2.2
set bmargin 1.6
set format x ''
set ylabel 'accuracy (%)' offset 1.5,0 font ',9'
set yrange [24:*]
set key above right horizontal font ',8' samplen 2.5 spacing 1.1
set arrow 1 from 9.6,26 to 2500,26 nohead lw 1 dt 3 lc rgb '#666666'
set label 1 'chance' at 9.888,26 left offset 0,0.45 textcolor rgb '#555555' font ',7'
set arrow 2 from 9.6,26 to 2500,26 nohead lw 1 dt 4 lc rgb '#666666'
set label 2 'majority by operator' at 9.888,26 left offset 0,0.45 textcolor rgb '#555555' font ',7'
set arrow 3 from 9.6,24 to 2500,24 nohead lw 1 dt 2 lc rgb '#666666'
set label 3 'K = 1, bag of tokens' at 9.888,24 left offset 0,0.45 textcolor rgb '#555555' font ',7'
plot 'loc-T1.dat' index 0 using 1:3:4:5 with yerrorlines lc rgb '#0072B2' lw 1.6 dt 1 pt 7 ps 0.5 title 'listops, small, f32 (1 seed)'

unset arrow
unset label
unset key
set size 1,0.4
set origin 0,0
set tmargin 0.6
set bmargin 3
set format x '%g'
set xtics ('12' 12, '90' 90)
set xlabel 'reach to each side (tokens)' offset 0,0.4 font ',9'
set ylabel 'gain' offset 1.5,0 font ',9'
set yrange [0:1.1<*]
set ytics 0.25
set arrow 4 from 9.6,1 to 2500,1 nohead lw 1 dt 2 lc rgb '#666666'
set label 4 '' at 9.888,1 left offset 0,0.45 textcolor rgb '#555555' font ',7'
set label 5 'LI = 0.781 (0.688 to 0.864)' at graph 0.97,0.16 right font ',8'
plot 'loc-T1.dat' index 0 using 1:6:7:8 with yerrorlines lc rgb '#0072B2' lw 1.6 dt 1 pt 7 ps 0.5 title 'listops, small, f32 (1 seed)'
unset multiplot
