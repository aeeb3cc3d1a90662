# loc-T1: listops, small, resconv, f32, 1 seed
# run fedcba9876543210, data 0123456789abcdef
# caption: flags, explained below table 'ladder': one-seed, span
# 'gnuplot loc-T1.gp' in this folder draws loc-T1.pdf, .svg and .png.
if (ARGC == 0) call ARG0 'pdf'; call ARG0 'svg'; call ARG0 'png'; exit
reset
set encoding utf8
if (ARG1 eq 'pdf') set terminal pdfcairo size 3.346in,3.909in font 'Sans,8' fontscale 0.75 linewidth 1 dashlength 1.8 pointscale 0.8 noenhanced background rgb 'white'
if (ARG1 eq 'svg') set terminal svg size 321,375 fixed font 'sans-serif,8' fontscale 1.3333 linewidth 0.667 noenhanced background rgb 'white'
if (ARG1 eq 'png') set terminal pngcairo size 1004,1173 font 'Sans,8' fontscale 3.125 linewidth 2.083 dashlength 2 pointscale 3.26 noenhanced background rgb 'white'
if (ARGC < 2) set output 'loc-T1.'.ARG1
set datafile missing '?'
set border 3 lw 1.2
set tics nomirror out scale 0.5
set grid ytics lt 1 lw 1 lc rgb '#dddddd'
set style fill solid noborder
unset key
set style arrow 1 heads fixed size screen 0.00705882,90 lc rgb '#111111' lw 1.6
set style arrow 2 heads fixed size screen 0.00941176,90 lc rgb '#ffffff' lw 3.6
set label 'listops, small, resconv, f32, 1 seed' at screen 0.5, screen 0.9782 center
set logscale x 2
set xrange [9.6:112.5]
set multiplot
set arrow from screen 0.1588,0.9347 to screen 0.2353,0.9347 nohead lw 2.5 dt 1 lc rgb '#004A8F'
set label '' at screen 0.1971,0.9347 point pt 7 ps 0.7 lw 2 lc rgb '#004A8F'
set label 'measured' at screen 0.2529,0.9347 left
set object rectangle from screen 0.1588,0.8894 to screen 0.2353,0.9076 fc rgb '#004A8F' fs transparent solid 0.2 noborder
set label '95 % interval' at screen 0.2529,0.8985 left
set arrow from screen 0.1588,0.8622 to screen 0.2353,0.8622 nohead lw 1.52 dt 1 lc rgb '#666666'
set label 'reference: the widest rung' at screen 0.2529,0.8622 left

set lmargin at screen 0.1588
set rmargin at screen 0.9824
set bmargin at screen 0.3877
set tmargin at screen 0.7787
set label 'accuracy (%)' at screen 0.02941, screen 0.5832 center rotate
set yrange [9.82986:96.2021]
set xtics ('' 12, '' 90)
set arrow from graph 0, first 24 to graph 1, first 24 nohead lw 1.51 dt (12,8) lc rgb '#666666' back
set label 'K = 1 (bag of tokens)' at 9.888, 24 left offset 0,-0.5 textcolor rgb '#555555' font ',7'
set arrow from graph 0, first 26 to graph 1, first 26 nohead lw 1.52 dt (2,6) lc rgb '#666666' back
set label 'chance' at graph 0.99, first 26 right offset 0,0.45 textcolor rgb '#555555' font ',7'
set arrow from graph 0, first 26 to graph 1, first 26 nohead lw 1.53 dt (12,5,3,5) lc rgb '#666666' back
set label 'majority by operator' at 9.888, 26 left offset 0,0.45 textcolor rgb '#555555' font ',7'
set arrow from graph 0, first 80 to graph 1, first 80 nohead lw 1.54 dt 1 lc rgb '#666666' back
set x2range [9.6:112.5]
set logscale x2 2
set x2tics ('5' 12, '31' 90)
set label 'K =' at screen 0.1471, screen 0.8149 right
plot NaN, \
     'loc-T1.dat' index 0 using 1:4:5 with filledcurves lc rgb '#004A8F' fs transparent solid 0.2, \
     'loc-T1.dat' index 0 using 1:3 with linespoints lc rgb '#004A8F' lw 2.5 dt 1 pt 7 ps 0.7

unset arrow
unset label
unset object
unset x2tics
set ytics autofreq

set lmargin at screen 0.1588
set rmargin at screen 0.9824
set bmargin at screen 0.1108
set tmargin at screen 0.3525
set label 'gain over chance' at screen 0.02941, screen 0.2316 center rotate
set xtics ('12' 12, '90' 90)
set xlabel 'reach on each side (tokens)' offset 0,0.6
set yrange [0:1.1]
set arrow from graph 0, first 0 to graph 1, first 0 nohead lw 1.51 dt (2,6) lc rgb '#666666' back
set arrow from graph 0, first 1 to graph 1, first 1 nohead lw 1.52 dt 1 lc rgb '#666666' back
set label 'LI[12..90] = 0.44 (0.14 to 0.67)' at graph 0.98,0.14 right
plot NaN, \
     'loc-T1.dat' index 0 using 1:7:8 with filledcurves lc rgb '#004A8F' fs transparent solid 0.2, \
     'loc-T1.dat' index 0 using 1:6 with linespoints lc rgb '#004A8F' lw 2.5 dt 1 pt 7 ps 0.7
unset multiplot
set output
