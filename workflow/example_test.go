package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/trireme-dev/trireme/workflow"
)

type order struct {
	Item  string
	Cents int
}

type receipt struct{ Payment string }

// charge stands for a request to a bank. The key has it happen once.
func charge(_ context.Context, key string, cents int) (string, error) {
	return fmt.Sprint(key, " paid ", cents), nil
}

var orders = workflow.New("order", func(c *workflow.Context, o order) (receipt, error) {
	payment := workflow.Run(c, "charge", func(ctx context.Context) (string, error) { return charge(ctx, c.RunID, o.Cents) })
	return receipt{payment}, nil
})

func ExampleNew() {
	workflow.New("order", func(c *workflow.Context, o order) (receipt, error) {
		payment := workflow.Run(c, "charge", func(ctx context.Context) (string, error) { return charge(ctx, c.RunID, o.Cents) })
		workflow.Sleep(c, "second thoughts", 24*time.Hour)
		return receipt{payment}, nil
	})
}

// The server and its keys are read from the environment.
func ExampleHandler() {
	http.Handle("/workflows/", workflow.Handler(workflow.Options{}, orders))
	log.Fatal(http.ListenAndServe(":3000", nil))
}

func ExampleWorkflow_Trigger() {
	ctx := context.Background()
	client := workflow.NewClient(workflow.Options{AppURL: "https://app.example/workflows"})
	run, err := orders.Trigger(ctx, client, order{"oar", 1200}, &workflow.RunOptions{Retries: 5, Labels: []string{"eu"}})
	if err != nil {
		log.Fatal(err)
	}
	result, err := orders.Result(ctx, client, run.RunID)
	if errors.Is(err, workflow.ErrFailed) {
		log.Print("no receipt: ", err)
	}
	log.Print(result.Payment)
}

func ExampleWorkflow_OnFailure() {
	orders.OnFailure(func(_ context.Context, f *workflow.Failure[order]) (string, error) {
		return fmt.Sprintf("the order of %s has failed: %s", f.Input.Item, f.Message), nil
	})
}

func ExampleRun() {
	workflow.New("draw", func(c *workflow.Context, _ workflow.None) (int64, error) {
		// The same number in each attempt, once it is recorded.
		n := workflow.Run(c, "draw", func(context.Context) (int64, error) { return time.Now().UnixNano() % 6, nil })
		return n + 1, nil
	})
}

func ExampleNonRetryable() {
	workflow.New("check", func(c *workflow.Context, o order) (workflow.None, error) {
		if o.Cents < 0 {
			return workflow.None{}, workflow.NonRetryable(fmt.Errorf("%d cents", o.Cents))
		}
		return workflow.None{}, nil
	})
}

// The app is not called while the third party works.
func ExampleCall() {
	workflow.New("ask", func(c *workflow.Context, question string) (string, error) {
		answer, err := workflow.Call(c, "ask", workflow.Request{URL: "https://model.example/v1", JSON: question, Retries: 3, Timeout: 10 * time.Minute})
		if failed, is := errors.AsType[*workflow.CallError](err); is && failed.Response.Status == http.StatusNotFound {
			return "nobody knows", nil
		}
		return string(answer.Body), err
	})
}

func ExampleWait() {
	workflow.New("approval", func(c *workflow.Context, o order) (string, error) {
		by, err := workflow.Wait[string](c, "approval", "approve-"+o.Item, 24*time.Hour)
		if errors.Is(err, workflow.ErrTimeout) {
			return "nobody has approved it", nil
		}
		return by, err
	})
}

func ExampleClient_Notify() {
	client := workflow.NewClient(workflow.Options{})
	woken, err := client.Notify(context.Background(), "approve-oar", "ann")
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("%d runs continue", len(woken))
}

func ExampleInvoke() {
	workflow.New("cart", func(c *workflow.Context, all []order) ([]receipt, error) {
		var list []receipt
		for i, o := range all {
			r, err := workflow.Invoke(c, fmt.Sprint("order ", i), orders, o, nil)
			if errors.Is(err, workflow.ErrFailed) {
				continue // the others are shipped
			}
			if err != nil {
				return nil, err
			}
			list = append(list, r)
		}
		return list, nil
	})
}

func ExampleGo() {
	workflow.New("both", func(c *workflow.Context, _ workflow.None) (int, error) {
		one := workflow.Go(c, func(c *workflow.Context) (int, error) {
			return workflow.Run(c, "one", func(context.Context) (int, error) { return 1, nil }), nil
		})
		two := workflow.Go(c, func(c *workflow.Context) (int, error) {
			workflow.Sleep(c, "nap", time.Minute) // at the same time
			return 2, nil
		})
		values, err := workflow.All(one, two)
		if err != nil {
			return 0, err
		}
		return values[0] + values[1], nil
	})
}

// The commands take effect with the step, once, or not at all.
func ExampleCommit() {
	workflow.New("pay", func(c *workflow.Context, o order) (string, error) {
		return workflow.Commit(c, "pay", func(context.Context) (workflow.Outcome[string], error) {
			return workflow.Outcome[string]{
				Commands: []workflow.Command{{"IF", "order:" + c.RunID, "MISSING"}, {"SET", "order:" + c.RunID, "paid"}, {"INCRBY", "cash", o.Cents}},
				Result:   "paid",
			}, nil
		}), nil
	}).With(workflow.RunOptions{CommitAs: "shop", CommitToken: "its token"})
}

func ExampleCreateWebhook() {
	workflow.New("hook", func(c *workflow.Context, _ workflow.None) (string, error) {
		hook := workflow.CreateWebhook(c, "create")
		workflow.Run(c, "tell", func(context.Context) (workflow.None, error) {
			log.Print("answer at ", hook.URL)
			return workflow.None{}, nil
		})
		r, err := workflow.WaitForWebhook(c, "wait", hook, time.Hour)
		if err != nil {
			return "", err
		}
		return r.Method, nil
	})
}
