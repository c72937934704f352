package workflows

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// startHeader returns the header of the request that would start a run as it was started: first the service headers
// that configure the run, under the prefix that clients read, then the forwarded headers by their own names, as
// deliveries have them.
func startHeader(r *workflow.Run, failure *queue.Callback, prefix string) []queue.Field {
	header := []queue.Field{}
	add := func(name, value string) {
		header = append(header, queue.Field{Name: prefix + "-" + name, Value: value})
	}
	add("Workflow-Init", "true")
	add("Workflow-Runid", r.ID)
	add("Workflow-Url", r.URL)
	add("Retries", strconv.Itoa(r.Retries))
	configure("", &r.Options, add)
	if failure != nil {
		add("Failure-Callback", failure.URL)
		o := &failure.Options
		if o.Given&queue.GivenRetries != 0 {
			add("Failure-Callback-Retries", strconv.Itoa(o.Retries))
		}
		configure("Failure-Callback-", o, add)
		for _, f := range o.Header {
			add("Failure-Callback-Forward-"+f.Name, f.Value)
		}
	}
	return append(header, r.Header...)
}

// configure adds the options, except the retries, by names that begin with before.
func configure(before string, o *queue.Options, add func(name, value string)) {
	if o.RetryDelay != "" {
		add(before+"Retry-Delay", o.RetryDelay)
	}
	if o.Timeout > 0 {
		add(before+"Timeout", fmt.Sprintf("%ds", (o.Timeout+999)/1000))
	}
	if f := o.Flow; f != nil {
		add(before+"Flow-Control-Key", f.Key)
		add(before+"Flow-Control-Value", flowValue(f))
	}
	if len(o.Labels) > 0 {
		add(before+"Label", strings.Join(o.Labels, ","))
	}
	if p := o.Precedence; p != nil {
		for _, part := range []struct {
			given queue.Part
			name  string
			value string
		}{
			{queue.PartPriority, "Priority", strconv.Itoa(p.Priority)}, {queue.PartTenant, "Tenant", p.Tenant},
			{queue.PartWeight, "Weight", strconv.Itoa(p.Weight)}, {queue.PartCost, "Cost", strconv.Itoa(p.Cost)},
		} {
			if p.Given&part.given != 0 {
				add(before+part.name, part.value)
			}
		}
	}
	if o.CommitAs != "" {
		add(before+"Commit-As", o.CommitAs)
	}
	if g := o.Gather; g != nil {
		name, value := g.Directive()
		add(before+strings.ToUpper(name[:1])+name[1:], value)
	}
	if o.OnFailure != queue.DeadLetter {
		add(before+"On-Failure", o.OnFailure.String())
	}
}

// flowValue returns a Flow-Control-Value.
func flowValue(f *queue.FlowControl) string {
	var parts []string
	if f.Parallelism > 0 {
		parts = append(parts, fmt.Sprintf("parallelism=%d", f.Parallelism))
	}
	if f.Rate > 0 {
		parts = append(parts, fmt.Sprintf("rate=%d, period=%ds", f.Rate, max(f.Period/1000, 1)))
	}
	if f.Burst > 0 {
		parts = append(parts, fmt.Sprintf("burst=%d", f.Burst))
	}
	return strings.Join(parts, ", ")
}
