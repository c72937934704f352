package demoshop

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/workflow"
)

// failsToPay says in which orders the bank refuses the card once, lacksConsent which customers can't be welcomed.
func failsToPay(n int) bool   { return n%5 == 3 }
func lacksConsent(n int) bool { return n%6 == 0 }

// packedEvent names the event that ends the wait of a checkout.
func packedEvent(o order) string { return "packed-" + strconv.Itoa(o.Number) }

// workflows returns the workflows.
func (s *Shop) workflows() []workflow.Definition {
	invoice := workflow.New("invoice", s.invoice)
	checkout := workflow.New("checkout", func(c *workflow.Context, o order) (map[string]any, error) { return s.checkout(c, o, invoice) })
	return []workflow.Definition{checkout, invoice, workflow.New("onboarding", s.onboarding)}
}

// lasting is a step that takes some time and then has a result.
func lasting[T any](c *workflow.Context, name string, d time.Duration, result T) T {
	return workflow.Run(c, name, func(ctx context.Context) (T, error) {
		spend(ctx, d)
		return result, ctx.Err()
	})
}

// atOnce is such a step, in parallel with others.
func atOnce[T any](c *workflow.Context, name string, d time.Duration, result T) {
	workflow.Go(c, func(c *workflow.Context) (T, error) { return lasting(c, name, d, result), nil })
}

// spend takes some time, or returns when ctx ends.
func spend(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// checkout has a step of every kind: parallel ones, a call, a sleep, a wait and an invoked run.
func (s *Shop) checkout(c *workflow.Context, o order, invoice *workflow.Workflow[order, map[string]int]) (map[string]any, error) {
	lasting(c, "read the cart", 40*time.Millisecond, o)
	atOnce(c, "reserve the goods", 150*time.Millisecond, map[string]int{"reserved": 1})
	atOnce(c, "check the address", 90*time.Millisecond, map[string]bool{"known": true})
	card := workflow.Go(c, func(c *workflow.Context) (map[string]int, error) {
		return workflow.Run(c, "charge the card", func(ctx context.Context) (map[string]int, error) { return s.charge(ctx, c.Retried, o) }), nil
	})
	if _, err := card.Await(); err != nil {
		return nil, err
	}
	parcel := workflow.Request{URL: s.url + "/parcels", JSON: o, Retries: 2, RetryDelay: "50"}
	if _, err := workflow.Call(c, "order the parcel", parcel); err != nil {
		return nil, err
	}
	workflow.Sleep(c, "time for second thoughts", 3*time.Second)
	_, err := workflow.Wait[[]byte](c, "until it is packed", packedEvent(o), 2*time.Minute)
	if err != nil && !errors.Is(err, workflow.ErrTimeout) {
		return nil, err
	}
	number := strconv.Itoa(o.Number)
	_, failed := workflow.Invoke(c, "write the invoice", invoice, o, &workflow.RunOptions{
		RunID: "invoice-" + number, Labels: []string{"order-" + number, "invoice", label}, FlowControl: &workflow.FlowControl{Key: runsKey, Parallelism: 4},
	})
	return map[string]any{"order": o.Number, "packed": err == nil}, failed
}

// charge takes as long as the slowest bank of a customer.
func (s *Shop) charge(ctx context.Context, retried int, o order) (map[string]int, error) {
	spend(ctx, time.Duration(400+o.Number*97%900)*time.Millisecond)
	if failsToPay(o.Number) && retried == 0 {
		return nil, workflow.NewError("CardDeclined", "the bank of "+o.Customer+" asks to try again")
	}
	return map[string]int{"charged": o.Cents}, nil
}

func (s *Shop) invoice(c *workflow.Context, o order) (map[string]int, error) {
	lasting(c, "add the taxes", 60*time.Millisecond, o.Cents*119/100)
	lasting(c, "print it", 200*time.Millisecond, "invoice-"+strconv.Itoa(o.Number)+".pdf")
	return map[string]int{"invoice": o.Number}, nil
}

// onboarding fails for some customers with each attempt.
func (s *Shop) onboarding(c *workflow.Context, o order) (map[string]string, error) {
	lasting(c, "create the account", 80*time.Millisecond, map[string]string{"customer": o.Customer})
	workflow.Sleep(c, "let them look around", 2*time.Second)
	workflow.Run(c, "send the welcome", func(context.Context) (map[string]bool, error) { return welcome(o) })
	return map[string]string{"welcomed": o.Customer}, nil
}

func welcome(o order) (map[string]bool, error) {
	if lacksConsent(o.Number) {
		return nil, workflow.NewError("TypeError", "the profile of "+o.Customer+" has no field consent")
	}
	return map[string]bool{"sent": true}, nil
}
