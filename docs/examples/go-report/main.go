package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/trireme-dev/trireme/workflow"
)

// Question names the subject of a report.
type Question struct {
	City string `json:"city"`
}

// Report returns the durable function. weather is the URL of a service that answers with {"celsius":21}.
func Report(weather string) *workflow.Workflow[Question, string] {
	return workflow.New("report", func(c *workflow.Context, q Question) (string, error) {
		// The app is not called while the weather service takes its time.
		degrees := workflow.Go(c, func(c *workflow.Context) (int, error) {
			answer, err := workflow.Call(c, "weather", workflow.Request{
				URL: weather + "?city=" + q.City, Retries: 3, RetryDelay: "1000 * (1 + retried)", Timeout: time.Minute,
			})
			if err != nil {
				return 0, err
			}
			var in struct{ Celsius int }
			err = answer.JSON(&in)
			return in.Celsius, err
		})
		people := workflow.Go(c, func(c *workflow.Context) (int, error) {
			return workflow.Run(c, "people", func(context.Context) (int, error) { return len(q.City) * 1000, nil }), nil
		})
		celsius, err := degrees.Await()
		if err != nil {
			return "", err
		}
		n, err := people.Await()
		return fmt.Sprintf("%d people in %s have %d degrees", n, q.City, celsius), err
	})
}

func main() {
	http.Handle("/", workflow.Handler(workflow.Options{}, Report("https://weather.example/now")))
	log.Fatal(http.ListenAndServe("127.0.0.1:3000", nil))
}
