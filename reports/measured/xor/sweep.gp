# sweep: xor, preset quick, resconv, 3 seeds, 95 % intervals
# run 6e6b74b353d51c3d, run 5489ead191954c9b, run f12ace551124dd7f, run fb4e4b6abe35af23, run f6d8b1d5bfd123f5, run 47f018a103972e69, run c1e4b32da8ae0e9a, run 5821354b5c5ec9ed, run 08e86a6a76009454, run fa83e5b625d8463e, run 1e10fce98fd6b3da, run d93348c3525f7fc5, run acd55192c8fdb58f, run bbfd2334a9612556, run 7f28533fe060e2e9, data b4d54325c6daea76, run 9e0b4e3f7eed4eed, run 1c6391fc8bdc7a37, run 1ffa553527e1d633, run abc8ef4efeb2c2fd, run 68f3bf522a11c628, run ccf87f3a5ecba59b, run d901310b7ea06bd5, run c9029d1253b30a86, run a314d8e7065b7a2b, run cf6aba79e649166f, run f7ec4a2b6f82bc5b, run 50fa83f0df8360a0, run 088cd414614b06f6, run dfb108df7d217e53, run 7337b573aaa42ed7, data 7fbb6310a0c39404, run d52427ed579ccff0, run 596db5e3be96f938, run 5095cfced9573e53, run 0f734ff558204d0a, run 98d47e45f5d0d0ee, run 14c95a6de49ae4e0, run 7698e82b7eab17d5, run eea92da2f88a2ed2, run 5e55001cf0ce4092, run 894f5cca7993204c, run c83d65d252040d2a, run dc67252869197e7e, run 6c388ddb4bc394a2, run be694e9d90fa2850, run bd5d79612f53aff6, data 2bf64eee55fd3e98, run 5a463c86bb30f60b, run 1d6ae529781a4d56, run 3211517419a208c9, run 991d8f85e1179071, run 3af0fc6be351a005, run 17211039eaaa1fdd, run 9f14756309e83b7a, run e8c2694fce1920ae, run d3929f0eba2ca75d, run d98c35603df6815c, run 1b3d4e43aec58d55, run cf0d65999b0021b5, run 0fca53503cd90bda, run 2f998b8836689b24, run 1b7a9a1b82f49cf9, data 84cea034fa9d7b4d
# 'gnuplot sweep.gp' in this folder draws sweep.pdf, .svg and .png.
if (ARGC == 0) call ARG0 'pdf'; call ARG0 'svg'; call ARG0 'png'; exit
reset
set encoding utf8
if (ARG1 eq 'pdf') set terminal pdfcairo size 3.346in,3.165in font 'Sans,8' fontscale 0.75 linewidth 1 dashlength 1.8 pointscale 0.8 noenhanced background rgb 'white'
if (ARG1 eq 'svg') set terminal svg size 321,304 fixed font 'sans-serif,8' fontscale 1.3333 linewidth 0.667 noenhanced background rgb 'white'
if (ARG1 eq 'png') set terminal pngcairo size 1004,950 font 'Sans,8' fontscale 3.125 linewidth 2.083 dashlength 2 pointscale 3.26 noenhanced background rgb 'white'
if (ARGC < 2) set output 'sweep.'.ARG1
set datafile missing '?'
set border 3 lw 1.2
set tics nomirror out scale 0.5
set grid ytics lt 1 lw 1 lc rgb '#dddddd'
set style fill solid noborder
unset key
set style arrow 1 heads fixed size screen 0.00705882,90 lc rgb '#111111' lw 1.6
set style arrow 2 heads fixed size screen 0.00941176,90 lc rgb '#ffffff' lw 3.6
set label 'xor, preset quick, resconv, 3 seeds, 95 % intervals' at screen 0.5, screen 0.9731 center
set arrow from screen 0.1588,0.9194 to screen 0.2353,0.9194 nohead lw 6.8 dt 1 lc rgb '#9ad3a8'
set label '' at screen 0.1971,0.9194 point pt 7 ps 1.48 lw 2 lc rgb '#9ad3a8'
set label 'K = 5' at screen 0.2529,0.9194 left
set arrow from screen 0.1588,0.8746 to screen 0.2353,0.8746 nohead lw 5.61 dt 1 lc rgb '#56b8a9'
set label '' at screen 0.1971,0.8746 point pt 7 ps 1.26 lw 2 lc rgb '#56b8a9'
set label 'K = 13' at screen 0.2529,0.8746 left
set arrow from screen 0.1588,0.8299 to screen 0.2353,0.8299 nohead lw 4.42 dt 1 lc rgb '#2471a3'
set label '' at screen 0.1971,0.8299 point pt 7 ps 1.04 lw 2 lc rgb '#2471a3'
set label 'K = 25' at screen 0.2529,0.8299 left
set arrow from screen 0.1588,0.7851 to screen 0.2353,0.7851 nohead lw 3.23 dt 1 lc rgb '#1f4e8c'
set label '' at screen 0.1971,0.7851 point pt 7 ps 0.82 lw 2 lc rgb '#1f4e8c'
set label 'K = 49' at screen 0.2529,0.7851 left
set arrow from screen 0.4021,0.9194 to screen 0.4786,0.9194 nohead lw 2.04 dt 1 lc rgb '#0a1f5c'
set label '' at screen 0.4403,0.9194 point pt 7 ps 0.6 lw 2 lc rgb '#0a1f5c'
set label 'K = 97' at screen 0.4962,0.9194 left
set label '' at screen 0.4403,0.8746 point pt 6 ps 1 lw 2 lc rgb '#444444'
set label 'beyond receptive field' at screen 0.4962,0.8746 left
set arrow from screen 0.4021,0.8299 to screen 0.4786,0.8299 nohead lw 1.56 dt (2,6) lc rgb '#444444'
set label 'chance' at screen 0.4962,0.8299 left

set lmargin at screen 0.1588
set rmargin at screen 0.9824
set bmargin at screen 0.1368
set tmargin at screen 0.6694
set label 'accuracy (%)' at screen 0.02941, screen 0.4031 center rotate
set xrange [2.06525:6.85659]
set yrange [45.1986:103.653]
set xtics ('8' 3, '16' 4, '32' 5, '64' 6)
set xlabel 'distance of the dependency (tokens)' offset 0,0.6
set arrow from graph 0, first 50 to graph 1, first 50 nohead lw 1.5 dt (2,6) lc rgb '#444444'
set arrow from 2.32193, graph 0 to 2.32193, graph 1 nohead lw 2 dt (2,3) lc rgb '#9ad3a8' back
set label '5' at 2.32193, graph 1.05 center
set arrow from 3.70044, graph 0 to 3.70044, graph 1 nohead lw 2 dt (2,3) lc rgb '#56b8a9' back
set label '13' at 3.70044, graph 1.05 center
set arrow from 4.64386, graph 0 to 4.64386, graph 1 nohead lw 2 dt (2,3) lc rgb '#2471a3' back
set label '25' at 4.64386, graph 1.05 center
set arrow from 5.61471, graph 0 to 5.61471, graph 1 nohead lw 2 dt (2,3) lc rgb '#1f4e8c' back
set label '49' at 5.61471, graph 1.05 center
set arrow from 6.59991, graph 0 to 6.59991, graph 1 nohead lw 2 dt (2,3) lc rgb '#0a1f5c' back
set label '97' at 6.59991, graph 1.05 center
set label '2R+1 =' at screen 0.1529, graph 1.05 right
plot 'sweep.dat' index 0 using 1:2 with lines lc rgb '#9ad3a8' lw 6.8, \
     'sweep.dat' index 1 using 1:2 with lines lc rgb '#56b8a9' lw 5.6, \
     'sweep.dat' index 2 using 1:2 with lines lc rgb '#2471a3' lw 4.4, \
     'sweep.dat' index 3 using 1:2 with lines lc rgb '#1f4e8c' lw 3.2, \
     'sweep.dat' index 4 using 1:2 with lines lc rgb '#0a1f5c' lw 2, \
     '' index 0 using 1:3:(0):($4-$3) with vectors heads fixed size screen 0.01,90 lc rgb '#9ad3a8' lw 2, \
     '' index 1 using 1:3:(0):($4-$3) with vectors heads fixed size screen 0.01,90 lc rgb '#56b8a9' lw 2, \
     '' index 2 using 1:3:(0):($4-$3) with vectors heads fixed size screen 0.01,90 lc rgb '#2471a3' lw 2, \
     '' index 3 using 1:3:(0):($4-$3) with vectors heads fixed size screen 0.01,90 lc rgb '#1f4e8c' lw 2, \
     '' index 4 using 1:3:(0):($4-$3) with vectors heads fixed size screen 0.01,90 lc rgb '#0a1f5c' lw 2, \
     '' index 0 using 1:6 with points lc rgb '#ffffff' pt 7 ps 1.48, \
     '' index 0 using 1:6 with points lc rgb '#9ad3a8' lw 2 pt 6 ps 1.48, \
     '' index 1 using 1:6 with points lc rgb '#ffffff' pt 7 ps 1.26, \
     '' index 1 using 1:6 with points lc rgb '#56b8a9' lw 2 pt 6 ps 1.26, \
     '' index 1 using 1:5 with points lc rgb '#56b8a9' pt 7 ps 1.26, \
     '' index 2 using 1:6 with points lc rgb '#ffffff' pt 7 ps 1.04, \
     '' index 2 using 1:6 with points lc rgb '#2471a3' lw 2 pt 6 ps 1.04, \
     '' index 2 using 1:5 with points lc rgb '#2471a3' pt 7 ps 1.04, \
     '' index 3 using 1:6 with points lc rgb '#ffffff' pt 7 ps 0.82, \
     '' index 3 using 1:6 with points lc rgb '#1f4e8c' lw 2 pt 6 ps 0.82, \
     '' index 3 using 1:5 with points lc rgb '#1f4e8c' pt 7 ps 0.82, \
     '' index 4 using 1:5 with points lc rgb '#0a1f5c' pt 7 ps 0.6
set output
