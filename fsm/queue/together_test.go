package queue

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// Publications that join others, tenants, priorities, costs, queues, keys and triggers together leave no index that does not follow from
// the records, whatever comes after what.
func TestExtensionsTogether(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(r)
		var ids []ID
		var running []Attempt
		if err := w.s.PutTrigger(w.env(), Trigger{Name: "t", Lanes: 2, User: "u", Publish: Publication{URL: "http://example.com/trigger"}}); err != nil {
			r.Fatal(err)
		}
		r.Repeat(map[string]func(*rapid.T){
			"publish": func(r *rapid.T) {
				for _, p := range w.publish(anyPublication(r)) {
					ids = append(ids, p.ID)
				}
			},
			"fire": func(r *rapid.T) {
				rule := w.s.Triggers()[0]
				w.s.FireMessage(w.env(), rule, []byte{byte(rapid.IntRange(0, 5).Draw(r, "key"))}, []byte("{}"), 1)
			},
			"pause": func(r *rapid.T) {
				act := rapid.SampledFrom([]Act{ActPause, ActResume}).Draw(r, "act")
				if err := w.s.ChangeTrigger(w.env(), "t", act); err != nil {
					r.Fatal(err)
				}
			},
			"advance": func(r *rapid.T) { running = append(running, w.advance(rapid.IntRange(1, 5).Draw(r, "claims"))...) },
			"finish": func(r *rapid.T) {
				if len(running) == 0 {
					r.Skip()
				}
				i := rapid.IntRange(0, len(running)-1).Draw(r, "which")
				w.finish(running[i], rapid.SampledFrom([]int{200, 500}).Draw(r, "status"))
				running = append(running[:i], running[i+1:]...)
			},
			"cancel": func(r *rapid.T) {
				if len(ids) == 0 {
					r.Skip()
				}
				if _, err := w.s.Cancel(w.env(), Cancellation{IDs: []ID{rapid.SampledFrom(ids).Draw(r, "id")}}); err != nil {
					r.Fatal(err)
				}
			},
			"wait": func(r *rapid.T) { w.now += int64(rapid.IntRange(1, 3000).Draw(r, "ms")) },
			"":     func(r *rapid.T) { checkStore(r, w.s) },
		})
	})
}

// anyPublication asks for some extensions at once.
func anyPublication(r *rapid.T) Publication {
	p := Publication{URL: fmt.Sprint("http://example.com/", rapid.IntRange(0, 1).Draw(r, "url")), Body: []byte("x")}
	p.Given = GivenRetries
	p.Retries = rapid.IntRange(0, 1).Draw(r, "retries")
	if rapid.Bool().Draw(r, "flow") {
		p.Flow, p.Given = &FlowControl{Key: rapid.SampledFrom([]string{"f", "g"}).Draw(r, "key"), Parallelism: 2, Rate: 5, Period: 1000, Burst: rapid.IntRange(0, 3).Draw(r, "burst")}, p.Given|GivenFlow
	}
	if rapid.Bool().Draw(r, "queue") {
		p.Queue, p.Given = "q", p.Given|GivenQueue
	}
	if rapid.Bool().Draw(r, "precedence") {
		v := &Precedence{Given: PartPriority, Priority: rapid.IntRange(0, MaxPriority).Draw(r, "priority")}
		if p.Queue != "" || p.Flow != nil {
			v.Given |= PartTenant | PartWeight | PartCost
			v.Tenant, v.Weight = rapid.SampledFrom([]string{"a", "b"}).Draw(r, "tenant"), rapid.IntRange(1, 3).Draw(r, "weight")
			v.Cost = rapid.IntRange(1, 9).Draw(r, "cost")
		}
		p.Precedence, p.Given = v, p.Given|GivenPrecedence
	}
	switch mode := GatherMode(rapid.IntRange(0, int(gatherModes)+1).Draw(r, "mode")); {
	case mode >= gatherModes, mode > Batched && p.Queue != "":
	default:
		p.Gather, p.Given = &Gather{Mode: mode, Key: "k", Wait: 1000, Size: 3, Bytes: 600}, p.Given|GivenGather
	}
	if rapid.Bool().Draw(r, "on failure") && (p.Queue != "" || p.Flow != nil) {
		p.OnFailure, p.Given = Pause, p.Given|GivenOnFailure
	}
	return p
}
