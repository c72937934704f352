package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/workflow"
)

// Order has the goods that a customer wants.
type Order struct {
	Item  string `json:"item"`
	Cents int    `json:"cents"`
	Card  string `json:"card"`
}

// Receipt is the result of a run.
type Receipt struct {
	Payment string `json:"payment"`
	Cents   int    `json:"cents"`
}

// ErrDeclined says that the bank will not pay, however often it is asked.
var ErrDeclined = errors.New("the card was declined")

// Shop has the effects of an order. Each is repeatable: the id of the run says for which order it is.
type Shop struct {
	mu       sync.Mutex
	reserved map[string]string // items by the runs that have reserved them
}

// NewShop returns a shop without orders.
func NewShop() *Shop { return &Shop{reserved: map[string]string{}} }

func (s *Shop) reserve(run, item string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved[run] = item
}

func (s *Shop) release(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.reserved, run)
}

// Reserved is the number of reserved items.
func (s *Shop) Reserved() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.reserved)
}

// Workflow returns the durable function.
func (s *Shop) Workflow() *workflow.Workflow[Order, Receipt] {
	return workflow.New("order", func(c *workflow.Context, o Order) (Receipt, error) {
		workflow.Run(c, "reserve", func(context.Context) (workflow.None, error) {
			s.reserve(c.RunID, o.Item)
			return workflow.None{}, nil
		})
		workflow.Sleep(c, "second thoughts", 24*time.Hour)
		payment := workflow.Run(c, "charge", func(context.Context) (string, error) {
			if o.Card == "" {
				return "", workflow.NonRetryable(ErrDeclined) // no retry would help
			}
			return "payment of " + c.RunID, nil
		})
		return Receipt{payment, o.Cents}, nil
	}).OnFailure(func(_ context.Context, f *workflow.Failure[Order]) (string, error) {
		s.release(f.RunID)
		return fmt.Sprintf("released %s: %s", f.Input.Item, f.Message), nil
	})
}

func main() {
	http.Handle("/", workflow.Handler(workflow.Options{}, NewShop().Workflow()))
	log.Fatal(http.ListenAndServe("127.0.0.1:3000", nil))
}
