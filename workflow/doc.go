// Package workflow serves durable functions and starts them. A durable function survives crashes of the app and of the server: each of its
// steps is recorded, and a step that is recorded is not done again.
//
//	order := workflow.New("order", func(c *workflow.Context, o Order) (Receipt, error) {
//		payment := workflow.Run(c, "charge", func(ctx context.Context) (Payment, error) { return bank.Charge(ctx, o) })
//		workflow.Sleep(c, "second thoughts", 24*time.Hour)
//		return Receipt{payment}, nil
//	})
//	http.Handle("/", workflow.Handler(workflow.Options{}, order))
//
// The server, Trireme, calls the handler. The function is run again for each call, over the results that the call carries, until it comes to
// a step without one: that is done and recorded, and the function ends there until the next call. So it must come to the same steps in the
// same order each time: everything that may come out differently, such as the time, belongs into the function of a step.
//
// # Errors
//
// An error or a panic of a step, or of the function, fails the attempt, which is repeated as often as the run allows. NonRetryable fails
// the run at once, and RetryAfter says when the next attempt begins. A run that has failed calls Workflow.OnFailure and becomes a dead letter,
// which Client.Resume continues. Steps return an error only where the function can act on it: Call, Wait, WaitForWebhook and Invoke.
//
// # Goroutines
//
// The function runs on a goroutine of its own. Where it has to wait for another call it ends by runtime.Goexit: deferred functions run, and no
// recover can keep it. Steps belong on that goroutine, or on that of a branch that Go starts.
//
// # Tests
//
// Package clients/triremetest runs a server in the process of a test, with a clock that the test moves.
package workflow
