package resp

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

// trackOnly is an engine that is only asked to track, until something is to be sent.
type trackOnly struct{ Engine }

func (trackOnly) Track(bool) {}

// Local is asked whether a connection may be told.
func (trackOnly) Local(func(*fsm.View)) { panic(sending) }

const sending = "an invalidation is being sent"

// TestSwitchesComeBehindChanges has a key change, with the notification still in the queue, before a connection begins to track,
// ends, goes on, or asks for more: it is told of the change if it had asked before, and only then.
func TestSwitchesComeBehindChanges(t *testing.T) {
	broadcast := trackingOptions{bcast: true}
	for name, c := range map[string]struct {
		before, then func(r *tracker, one *tracked)
		told         bool
	}{
		"on": {
			before: func(*tracker, *tracked) {},
			then: func(r *tracker, one *tracked) {
				one.options, one.prefixes = broadcast, []string{"k"}
				r.begin(one)
			},
		},
		"off": {
			before: func(r *tracker, one *tracked) { r.begin(one); r.trackKeys(one, []string{"k"}) },
			then:   func(r *tracker, one *tracked) { one.busy = false; r.pause(one) },
			told:   true,
		},
		"off and on again": {
			before: func(r *tracker, one *tracked) {
				r.begin(one)
				r.trackKeys(one, []string{"k"})
				r.pause(one)
			},
			then: func(r *tracker, one *tracked) { r.resume(one, trackingOptions{}, nil) },
		},
		"a prefix more": {
			before: func(r *tracker, one *tracked) {
				one.options, one.prefixes = broadcast, []string{"a"}
				r.begin(one)
			},
			then: func(r *tracker, one *tracked) { r.change(one, broadcast, []string{"k"}) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Server{engine: trackOnly{}, limits: Limits{TrackedKeys: 100}}
			r := newTracker(s)
			r.begin(&tracked{db: "default"})                           // without anybody who tracks, nothing is notified
			one := &tracked{c: &conn{s: s}, db: "default", busy: true} // so that nothing is sent
			c.before(r, one)
			r.notify([]env.Notification{{Kind: env.KeyTouched, DB: "default", Channel: "k", Index: 7}})
			told := func() (told bool) {
				defer func() {
					if v := recover(); v == sending {
						told = true
					} else if v != nil {
						panic(v)
					}
				}()
				c.then(r, one)
				r.processQueue()
				return len(one.pending) > 0
			}()
			if told != c.told {
				t.Errorf("told of the change: %v, want %v", told, c.told)
			}
		})
	}
}
