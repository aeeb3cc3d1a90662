# sweep: recall, preset quick, resconv, 3 seeds, 95 % intervals
# run 795c1c50aef5815e, run bb78023ccb9fef59, run aae7cbfcf3468b9b, run cae33d4fd4f5aa7c, run 2f798662c8ac63c7, run 6cf96e7db59e94b4, run 01ede934946599e9, run e69333508d2eec34, run d35a1bb0690e5daa, run db206bf2f56abbaf, run 95ce164f4a68b6bd, run 7fafd0b63ebc92a2, run fc6588b830d56147, run f1df29591f5a0d01, run 068cfc46eea71da0, data ad90b44497eaba45, run c669891346148bc6, run a26052dc986e39f1, run e3f58520d7029396, run 1e6ef66eb82808ed, run 4aafa755850b16fc, run 33e7666dce31727a, run dec498d177689a21, run 22462a53e26d34fb, run e52a70f21872d428, run 91358eda535ee2b9, run c6a17d94b7b5b106, run b27ba29669ce2fd2, run ff882dc6dc8585a6, run ac9ff70c3db7daad, run 80d664e91b9ecf57, data 8f70300dbae031a6, run 5b53ceaee4c71a08, run bdf2cce66e78a721, run 9db08f509f983a12, run a52c113c78048d97, run 2d929e9db8efc3e7, run 024865639c8669bd, run f5893afdb6300e4e, run 67a9ffb1aaaa72fd, run 2b1fba0e93bc27c2, run 3e0aa1ba5f94dfdf, run 432bf6c9a6051025, run ccca7ff7e459f4c3, run 49a7d3562c01e8d6, run be4d1d39ce25b183, run ba328de2ad00f0dc, data 942d8ef547b1cb4f, run 5cc646f33a8a55eb, run 2a9660e2359247ea, run 6b36f98b0b72ef47, run 8e97560c039e77f9, run 74b1878b2a602bbe, run 1b8f1b13e6dab7a6, run a2595630523ce328, run 43f64f1289c8d334, run 38376c7cd59beeed, run 06dea3d978f0fb73, run 447762bc44ee04c5, run ecdee2ec9794129d, run 1452c5cbdbd4dc72, run 9f6ccd7d01e8410c, run 60817765e4496055, data ba41e5f911fe9f59
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
set label 'recall, preset quick, resconv, 3 seeds, 95 % intervals' at screen 0.5, screen 0.9731 center
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
set label 'beyond the field' at screen 0.4962,0.8746 left
set arrow from screen 0.4021,0.8299 to screen 0.4786,0.8299 nohead lw 1.56 dt (2,6) lc rgb '#444444'
set label 'chance' at screen 0.4962,0.8299 left

set lmargin at screen 0.1588
set rmargin at screen 0.9824
set bmargin at screen 0.1368
set tmargin at screen 0.6694
set label 'accuracy (%)' at screen 0.02941, screen 0.4031 center rotate
set xrange [2.06525:6.85659]
set yrange [45.4226:103.638]
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
