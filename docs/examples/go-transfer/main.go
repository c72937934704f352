package main

import (
	"context"
	"fmt"
	"log"
	"net/http"

	"github.com/trireme-dev/trireme/workflow"
)

// Transfer moves an amount from one account to another.
type Transfer struct {
	From, To string
	Amount   int
}

// Balances reads balances; GET of the keyspace.
type Balances func(ctx context.Context, account string) (int, error)

// Move returns the durable function. Its runs need RunOptions.CommitAs.
func Move(balances Balances) *workflow.Workflow[Transfer, int] {
	return workflow.New("move", func(c *workflow.Context, t Transfer) (int, error) {
		return workflow.Commit(c, "move", func(ctx context.Context) (o workflow.Outcome[int], err error) {
			have, err := balances(ctx, t.From)
			if err != nil {
				return o, err
			}
			if have < t.Amount {
				return o, workflow.NonRetryable(fmt.Errorf("%s has %d, not %d", t.From, have, t.Amount))
			}
			o.Commands = []workflow.Command{
				{"IF", "account:" + t.From, "EQ", have}, // somebody else may have moved money since: then the step is repeated
				{"DECRBY", "account:" + t.From, t.Amount},
				{"INCRBY", "account:" + t.To, t.Amount},
			}
			o.Result = have - t.Amount
			return o, nil
		}), nil
	})
}

func main() {
	none := func(context.Context, string) (int, error) { return 0, nil } // a client of Redis, in a program of yours
	http.Handle("/", workflow.Handler(workflow.Options{}, Move(none)))
	log.Fatal(http.ListenAndServe("127.0.0.1:3000", nil))
}
