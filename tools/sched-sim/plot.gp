# SPDX-License-Identifier: GPL-2.0-only
# Jain's index in the isolation experiment by number of vGPUs, one bar per policy. Variables: table, picture.
set terminal svg size 900,460 background rgb 'white'
set output picture
set multiplot layout 1,2 title 'Isolation experiment, requests of 1.0 and 5.9 ms, think time 50 us'
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.8
set key above horizontal
set xtics ('2' 0, '4' 1, '8' 2, '16' 3)
set xlabel 'vGPUs, one request outstanding each'
pick(policy, column) = sprintf("< grep '^isolation 1:5.9' %s | awk '$3 == \"%s\" && $5 == 1 {print $%d}'", table, policy, column)
set yrange [0:1.05]
set ylabel "Jain's index over 1 s"
plot for [p in 'fifo credit band fair'] pick(p, 6) using 1 title p
set ylabel "Jain's index over 100 ms, 5th percentile"
plot for [p in 'fifo credit band fair'] pick(p, 8) using 1 title p
unset multiplot
