// Command asynq measures asynq as a queue that delivers over HTTP, the peer of benchmark
// row 13. Producers enqueue tasks while workers take them from Redis and post each to a
// sink of this process; it prints the tasks delivered a second. It is a module of its own
// so that asynq's dependencies never meet those of the product.
//
//	asynq -redis 127.0.0.1:P -tasks 20000
package main
