// Command go-order serves an order as a durable function: it reserves the goods, gives the customer a day for second thoughts, charges the
// card, and releases the goods if that fails for good.
//
//	trireme dev &
//	. .trireme/env
//	go run ./docs/examples/go-order
package main
