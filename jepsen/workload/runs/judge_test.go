package runs

import (
	"strings"
	"testing"
)

func text(s string) *string { return &s }

// good is the log of a mixed run as it has to be, and the app that saw it.
func good() (*App, *Log) {
	a := &App{outs: map[stepKey]string{}, effects: map[stepKey]int{}, arrivals: map[attemptKey]int{}}
	l := &Log{ID: "r", State: "RUN_SUCCESS"}
	var outs []string
	add := func(s Step) {
		l.Groups = append(l.Groups, struct {
			Type  string `json:"type"`
			Steps []Step `json:"steps"`
		}{"sequential", []Step{s}})
	}
	add(Step{Name: "init", Type: "Initial", State: "STEP_SUCCESS"})
	for i := range mixedSteps {
		name := string(rune('a' + i))
		add(Step{ID: i + 1, Name: name, Type: "Run", State: "STEP_SUCCESS", Out: text(name)})
		a.effects[stepKey{"r", name}] = 1
		outs = append(outs, `"`+name+`"`)
	}
	l.Response = text("[" + strings.Join(outs, ",") + "]")
	return a, l
}

// The judge of mixed runs takes a good log, and each bad one for what it is.
func TestJudgeMixed(t *testing.T) {
	if a, l := good(); a.judgeMixed(l) != nil {
		t.Fatal(a.judgeMixed(l))
	}
	for name, corrupt := range map[string]func(*App, *Log){
		"not over":       func(_ *App, l *Log) { l.State = "RUN_STARTED" },
		"no result":      func(_ *App, l *Log) { l.Response = nil },
		"two results":    func(_ *App, l *Log) { l.Groups[2].Steps[0].ID = 1 },
		"not done":       func(_ *App, l *Log) { l.Groups[3].Steps[0].State = "STEP_RETRY" },
		"another output": func(_ *App, l *Log) { l.Groups[4].Steps[0].Out = text("z") },
		"never ran":      func(a *App, _ *Log) { delete(a.effects, stepKey{"r", "e"}) },
	} {
		a, l := good()
		if corrupt(a, l); a.judgeMixed(l) == nil {
			t.Errorf("%s: passes", name)
		}
	}
}

// The app notices a step that has two results.
func TestSeenTwice(t *testing.T) {
	a, _ := good()
	a.seen("r", 1, "x")
	a.seen("r", 1, "x")
	if a.Problems() != nil {
		t.Fatal(a.Problems())
	}
	if a.seen("r", 1, "y"); a.Problems() == nil {
		t.Error("two results pass")
	}
}

// The judge of races holds a waiter to one outcome.
func TestJudgeRace(t *testing.T) {
	log := func(state string, wait *Step, response *string) *Log {
		l := &Log{ID: "r", State: state, Response: response}
		if wait != nil {
			l.Groups = append(l.Groups, struct {
				Type  string `json:"type"`
				Steps []Step `json:"steps"`
			}{"sequential", []Step{*wait}})
		}
		return l
	}
	notified := &Step{Type: "Wait", State: "STEP_SUCCESS"}
	late := &Step{Type: "Wait", State: "STEP_SUCCESS", Late: true}
	for name, c := range map[string]struct {
		canceled bool
		l        *Log
		woken    int
		good     bool
	}{
		"notified":              {false, log("RUN_SUCCESS", notified, text("false")), 1, true},
		"late":                  {false, log("RUN_SUCCESS", late, text("true")), 0, true},
		"cancelled":             {true, log("RUN_CANCELED", nil, nil), 0, true},
		"notified, cancelled":   {true, log("RUN_CANCELED", notified, nil), 1, true},
		"notified, not told":    {false, log("RUN_SUCCESS", notified, text("false")), 0, false},
		"late, told":            {false, log("RUN_SUCCESS", late, text("true")), 1, false},
		"told twice":            {false, log("RUN_SUCCESS", notified, text("false")), 2, false},
		"told otherwise":        {false, log("RUN_SUCCESS", late, text("false")), 0, false},
		"cancelled, not told":   {false, log("RUN_CANCELED", nil, nil), 0, false},
		"told, not cancelled":   {true, log("RUN_SUCCESS", late, text("true")), 0, false},
		"woken after cancelled": {true, log("RUN_CANCELED", nil, nil), 1, false},
		"no outcome":            {false, log("RUN_SUCCESS", nil, text("false")), 0, false},
	} {
		var r RaceResult
		if err := r.judge(&racer{id: "r", unsure: true, unheard: true}, c.l, 0); (err == nil) != (name != "told otherwise" && name != "no outcome") {
			t.Errorf("%s, without answers: %v", name, err)
		}
		r = RaceResult{}
		err := r.judge(&racer{id: "r", canceled: c.canceled}, c.l, c.woken)
		if (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
