package demoshop

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/clients/endpoint"
)

// failsToPay says in which orders the bank refuses the card once, lacksConsent which customers can't be welcomed.
func failsToPay(n int) bool   { return n%5 == 3 }
func lacksConsent(n int) bool { return n%6 == 0 }

// packedEvent names the event that ends the wait of a checkout.
func packedEvent(o order) string { return "packed-" + strconv.Itoa(o.Number) }

// workflows returns the workflows by name.
func (s *Shop) workflows() map[string]endpoint.Workflow {
	return map[string]endpoint.Workflow{"checkout": s.checkout, "invoice": s.invoice, "onboarding": s.onboarding}
}

// orderOf reads the payload of a run.
func orderOf(c *endpoint.Context) (o order) {
	if err := json.Unmarshal(c.Payload, &o); err != nil {
		panic(endpoint.NewError("SyntaxError", err.Error()))
	}
	return o
}

// lasting returns a step that takes some time and then has a result.
func lasting(c *endpoint.Context, name string, d time.Duration, result any) endpoint.Lazy {
	return endpoint.Run(name, func() any { spend(c.Request.Context(), d); return result })
}

// spend takes some time, or returns when ctx ends.
func spend(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// checkout has a step of every kind: parallel ones, a call, a sleep, a wait and an invoked run.
func (s *Shop) checkout(c *endpoint.Context) any {
	o := orderOf(c)
	text := string(c.Payload)
	c.Do(lasting(c, "read the cart", 40*time.Millisecond, o))
	c.Parallel(
		lasting(c, "reserve the goods", 150*time.Millisecond, map[string]int{"reserved": 1}),
		lasting(c, "check the address", 90*time.Millisecond, map[string]bool{"known": true}),
		endpoint.Run("charge the card", func() any { return s.charge(c, o) }),
	)
	c.Do(endpoint.Call("order the parcel", "POST", s.url+"/parcels", text, 2))
	c.Do(endpoint.Sleep("time for second thoughts", 3*time.Second))
	out := c.Do(endpoint.Wait("until it is packed", packedEvent(o), 2*time.Minute))
	packed, err := endpoint.ReadWait(out)
	if err != nil {
		panic(err)
	}
	settings := map[string]string{
		"upstash-label": "order-" + strconv.Itoa(o.Number) + ",invoice," + label, "upstash-flow-control-key": runsKey, "upstash-flow-control-value": "parallelism=4",
	}
	c.Do(endpoint.Invoke("write the invoice", s.url+"/workflows/invoice", "invoice-"+strconv.Itoa(o.Number), text, settings))
	return map[string]any{"order": o.Number, "packed": !packed.Timeout}
}

// charge takes as long as the slowest bank of a customer.
func (s *Shop) charge(c *endpoint.Context, o order) any {
	spend(c.Request.Context(), time.Duration(400+o.Number*97%900)*time.Millisecond)
	if retried := c.Request.Header.Get("Upstash-Retried"); failsToPay(o.Number) && (retried == "" || retried == "0") {
		panic(endpoint.NewError("CardDeclined", "the bank of "+o.Customer+" asks to try again"))
	}
	return map[string]any{"charged": o.Cents}
}

func (s *Shop) invoice(c *endpoint.Context) any {
	o := orderOf(c)
	c.Do(lasting(c, "add the taxes", 60*time.Millisecond, o.Cents*119/100))
	c.Do(lasting(c, "print it", 200*time.Millisecond, "invoice-"+strconv.Itoa(o.Number)+".pdf"))
	return map[string]int{"invoice": o.Number}
}

// onboarding fails for some customers with each attempt.
func (s *Shop) onboarding(c *endpoint.Context) any {
	o := orderOf(c)
	c.Do(lasting(c, "create the account", 80*time.Millisecond, map[string]string{"customer": o.Customer}))
	c.Do(endpoint.Sleep("let them look around", 2*time.Second))
	c.Do(endpoint.Run("send the welcome", func() any { return welcome(o) }))
	return map[string]string{"welcomed": o.Customer}
}

func welcome(o order) any {
	if lacksConsent(o.Number) {
		panic(endpoint.NewError("TypeError", "the profile of "+o.Customer+" has no field consent"))
	}
	return map[string]bool{"sent": true}
}
