package workflow

import (
	"bytes"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// The limits of the updates that a run accepts.
const (
	maxRules      = 16
	maxRuleName   = 256
	maxCondition  = 1024
	maxUpdateID   = 128
	maxRemembered = 100 // ids of updates that are remembered for a run
	// maxPattern is the largest program of the regular expressions of a rule.
	maxPattern = 1000
)

// Rule is an update that a run accepts, and the condition for it.
type Rule struct {
	Name string
	// Condition is one of the filters of JSONPath over {"state":…,"update":…}, such as @.update.amount <= @.state.left, or a path of the form
	// $[?(…)]. An empty one holds.
	Condition string
}

// Fields codes the value in its wire format.
func (r *Rule) Fields(c *wire.Codec) {
	c.Text(&r.Name)
	c.Text(&r.Condition)
}

// ReadUpdates reads the updates that a run accepts: a JSON object whose members are the conditions of names, or null for none.
func ReadUpdates(text []byte) ([]Rule, *queue.Error) {
	v, err := jsondoc.Parse(text)
	if _, none := v.(jsondoc.Null); none && err == nil {
		return nil, nil
	}
	o, ok := v.(*jsondoc.Object)
	if err != nil || !ok {
		return nil, invalid(`invalid updates: they are not a JSON object of names and rules, such as {"approve":"@.update.by != @.state.owner","cancel":""}`)
	}
	if o.Len() > maxRules {
		return nil, invalid("invalid updates: there are too many. Limit: %d, Actual: %d. Setting: none, it is fixed", maxRules, o.Len())
	}
	var list []Rule
	var wrong *queue.Error
	o.All(func(name string, v jsondoc.Value) bool {
		r := Rule{Name: name}
		switch c := v.(type) {
		case jsondoc.String:
			r.Condition = string(c)
		case jsondoc.Null:
		default:
			wrong = invalid("invalid updates: the rule of %s is not a text", name)
			return false
		}
		list, wrong = append(list, r), r.wrong()
		return wrong == nil
	})
	if wrong != nil {
		return nil, wrong
	}
	return list, nil
}

// wrong says what is wrong with a rule, nil if nothing is.
func (r *Rule) wrong() *queue.Error {
	switch {
	case r.Name == "" || len(r.Name) > maxRuleName || !queue.FitsHeader(r.Name) || strings.Contains(r.Name, "/"):
		return invalid("invalid updates: a name has 1 to %d bytes, and neither slashes nor control characters", maxRuleName)
	case len(r.Condition) > maxCondition:
		return invalid("invalid updates: the rule of %s is too long. Limit: %d bytes, Actual: %d. Setting: none, it is fixed", r.Name, maxCondition, len(r.Condition))
	}
	if r.Condition == "" {
		return nil
	}
	if _, err := r.path(); err != nil {
		return invalid("invalid updates: the rule of %s is no condition: %s", r.Name, err)
	}
	return nil
}

// path is the rule as a path, which finds something if the condition holds.
func (r *Rule) path() (*jsondoc.Path, error) {
	text := r.Condition
	if !strings.HasPrefix(text, "$[?") {
		text = "$[?(" + text + ")]"
	}
	p, _, err := jsondoc.ParsePathWithin(text, maxPattern)
	return p, err
}

// admits returns nil if an update is accepted in a state, or why it is not. Neither is nil.
func (r *Rule) admits(state, update jsondoc.Value, budget int) (refused string) {
	if r.Condition == "" {
		return ""
	}
	p, err := r.path()
	if err != nil {
		return err.Error()
	}
	root := jsondoc.NewArray(jsondoc.ObjectOf(jsondoc.Member{Key: "state", Value: state}, jsondoc.Member{Key: "update", Value: update}))
	switch found, err := jsondoc.First(root, p, jsondoc.NewWorkOf(budget)); {
	case err != nil:
		return "its rule looks at too many values"
	case found == nil:
		return "its rule does not hold"
	}
	return ""
}

// ruleBudget is the most values that a rule may look at in a state and an update of so many bytes.
func ruleBudget(bytes int) int { return 1000 + bytes }

// ownedRules are rules that do not alias the log.
func ownedRules(list []Rule) []Rule {
	out := slices.Clone(list)
	for i := range out {
		out[i] = Rule{ownedText(out[i].Name), ownedText(out[i].Condition)}
	}
	return out
}

func rulesSize(list []Rule) (n int64) {
	for _, r := range list {
		n += 64 + int64(len(r.Name)+len(r.Condition))
	}
	return n
}

// declaredSize and declaredWork are the size of the rules in a JSON text, and the work of reading them.
func declaredSize(text []byte) int64 {
	return int64(len(text)) + 64*min(int64(bytes.Count(text, []byte{'"'})/2), maxRules)
}

func declaredWork(text []byte) int64 { return parseWork(len(text)) + int64(len(text)) }

// Rules returns the updates that a run accepts.
func (r *Run) Rules() []Rule {
	if r.Data != nil && r.Data.Declared {
		return r.Data.Updates
	}
	return r.Config.Updates
}

// update judges an update and, if it is accepted, brings it to the run as an event of its name.
func (s *Store) update(e *env.Env, q *queue.Store, n *Notification) (out Notified, err error) {
	r := s.Find(n.RunID, 0)
	switch {
	case r == nil:
		return out, notFound("workflow run %s not found", n.RunID)
	case !r.Active():
		return out, refusal(ErrEnded, "workflow run %s is over: it is %s and accepts no updates any more", r.ID, r.State)
	case len(n.UpdateID) > maxUpdateID || !queue.FitsHeader(n.UpdateID):
		return out, invalid("invalid update-id: use at most %d bytes without control characters", maxUpdateID)
	case len(n.Body) > MaxState:
		return out, invalid("the update is too large. Limit: %d bytes, Actual: %d. Setting: none, it is fixed", MaxState, len(n.Body))
	}
	v := &Verdict{ID: ownedText(n.UpdateID)}
	if r.Data != nil {
		v.Version = r.Data.Version
	}
	out.Update = v
	if v.ID != "" && r.Data != nil && slices.Contains(r.Data.Accepted, v.ID) {
		v.Accepted, v.Deduplicated = true, true
		return out, nil
	}
	if v.Rule, v.Refused, err = s.judge(r, n); err != nil || v.Refused != "" {
		return out, err
	}
	if list := s.waitersFor(r, n); len(list) > 0 {
		out.Woken = s.wakeAll(e, q, list, n.Body)
	} else if err := s.save(e, q, r, n); err != nil {
		return Notified{}, err
	} else {
		out.Stored = true
	}
	v.Accepted = true
	if v.ID == "" {
		v.ID = e.NewID(updatePrefix)
		return out, nil
	}
	r, _ = s.runs.Get(r.No)
	k := s.edit(e, q, r)
	k.change(func(d *Data) {
		kept := d.Accepted[max(len(d.Accepted)-maxRemembered+1, 0):]
		d.Accepted = append(append(make([]string, 0, len(kept)+1), kept...), v.ID)
	})
	k.store()
	return out, nil
}

const updatePrefix = "upd"

// judge holds an update against the run's rule for its name.
func (s *Store) judge(r *Run, n *Notification) (rule, refused string, err error) {
	rules := r.Rules()
	at := slices.IndexFunc(rules, func(one Rule) bool { return one.Name == n.EventID })
	if at < 0 {
		return "", "", notFound("workflow run %s accepts no update %s: %s", r.ID, n.EventID, acceptedNames(rules))
	}
	update, wrong := jsondoc.Parse(n.Body)
	if wrong != nil {
		return "", "", invalid("the update is not JSON: %s", wrong)
	}
	state := jsondoc.Value(jsondoc.Null{})
	size := len(n.Body)
	if d := r.Data; d != nil && d.State != nil {
		size += len(d.State)
		if state, wrong = jsondoc.Parse(d.State); wrong != nil {
			state = jsondoc.Null{}
		}
	}
	return rules[at].Condition, rules[at].admits(state, update, ruleBudget(size)), nil
}

func acceptedNames(rules []Rule) string {
	if len(rules) == 0 {
		return "it has declared none"
	}
	names := make([]string, len(rules))
	for i := range rules {
		names[i] = rules[i].Name
	}
	return "it accepts " + strings.Join(names, ", ")
}

// updatePrice is the price of update.
func (s *Store) updatePrice(r *Run, n *Notification) env.Price {
	size := len(n.Body)
	cost := env.Price{Work: operation + 4*maxRemembered + parseWork(len(n.Body)), Growth: dataCost + 24 + int64(len(n.UpdateID))}
	if d := r.Data; d != nil {
		size += len(d.State)
		cost.Work += parseWork(len(d.State))
	}
	cost.Work += maxCondition/4 + int64(ruleBudget(size))
	cost.Add(s.bringPrice(r, n))
	return cost
}
