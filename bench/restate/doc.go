// Command restate measures Restate running workflows of three empty steps, the peer of the
// benchmark's rows 14 and 15. It is the service that holds the workflow and the clients that
// start it, in a closed loop; it prints workflows a second, and the median and the 99th
// percentile of their times in microseconds. It is a module of its own so that Restate's
// dependencies never meet those of the product.
//
//	restate -admin http://127.0.0.1:P -ingress http://127.0.0.1:Q -service 127.0.0.1:R -clients 64 -for 2s
package main
