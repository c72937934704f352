package workflow

import (
	"strconv"
	"time"
)

// Sleep is a step that lasts d, in whole seconds, rounded up. No request waits meanwhile.
func Sleep(c *Context, name string, d time.Duration) {
	delay := seconds(max(d, 0))
	c.do(&pending{
		step: step{Name: name, Type: "SleepFor", SleepFor: delay}, headers: map[string]string{"upstash-delay": delay},
		submit: func(d *delivery, s step) error {
			headers := map[string]string{}
			if s.Concurrent == 1 { // otherwise its plan has waited
				headers["upstash-delay"] = delay
			}
			return d.submitResult(s, headers)
		},
	})
}

// SleepUntil is a step that lasts until a time of day, in whole seconds, rounded up. A time that has passed is now.
func SleepUntil(c *Context, name string, at time.Time) {
	second := at.Unix()
	if at.Nanosecond() > 0 {
		second++
	}
	until := strconv.FormatInt(second, 10)
	c.do(&pending{
		step: step{Name: name, Type: "SleepUntil", SleepUntil: float64(second)}, headers: map[string]string{"upstash-not-before": until},
		submit: func(d *delivery, s step) error {
			headers := map[string]string{}
			if s.Concurrent == 1 {
				headers["upstash-not-before"] = until
			}
			return d.submitResult(s, headers)
		},
	})
}
