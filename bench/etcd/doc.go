// Command etcd starts one etcd member with its HTTP gateway, the peer of
// benchmark rows 1, 3 and 4. It is a module of its own so that etcd's
// dependencies never meet those of the product.
//
//	etcd -name e1 -dir D -client http://127.0.0.1:P -peer http://127.0.0.1:Q -cluster e1=http://...,e2=...,e3=...
//
// Everything else is etcd's default: synced writes, 100 ms heartbeat, 1 s
// election timeout. SIGTERM and SIGINT stop it; it exits 1 when it can't start.
package main
