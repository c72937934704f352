package cli

import (
	"encoding/json"
	"strconv"
	"strings"
)

// showRun prints a run: as a page with a waterfall of its steps, or as the API has it.
func (s *session) showRun() error {
	if !s.forPeople() {
		doc, err := s.run(s.args[0])
		if err != nil {
			return err
		}
		return s.record(doc, "workflowRunId")
	}
	r, err := s.timedSteps(s.args[0])
	if err != nil {
		return err
	}
	var why json.RawMessage
	if r.State != "RUN_SUCCESS" {
		if why, err = s.get(s.in("/v2/workflows/runs/" + escape(r.ID) + "/explain")); err != nil {
			return err
		}
	}
	sh := &sheet{output: &s.output}
	if err := sh.run(&r, why); err != nil {
		return err
	}
	return sh.print(s.cmd.OutOrStdout())
}

// run adds the page of a run.
func (sh *sheet) run(r *runView, why json.RawMessage) error {
	sh.headline(r.State, r.ID, r.URL)
	var explain any
	if why != nil {
		v, err := decode(why)
		if err != nil {
			return err
		}
		explain = v
		sh.sentence(textOf(explain, "text"))
	}
	sh.b.WriteByte('\n')
	spent := "TOOK"
	if r.Completed == 0 {
		spent = "RUNNING FOR"
	}
	invoker := ""
	if r.Invoker != nil {
		invoker = r.Invoker.ID
	}
	if err := sh.pairs([][2]string{
		{"CREATED", sh.moment(strconv.FormatInt(r.Created, 10))}, {"COMPLETED", sh.moment(strconv.FormatInt(r.Completed, 10))}, {spent, took(r.end() - r.Created)},
		{"LABELS", printable(strings.Join(r.Labels, ", "))}, {"FLOW CONTROL KEY", printable(r.FlowKey)}, {"INVOKED BY", printable(invoker)},
		{"DEAD LETTER", r.DlqID}, {"RESULT", sh.clip(printable(r.Response), longText)},
	}); err != nil {
		return err
	}
	if err := sh.waterfall(r); err != nil {
		return err
	}
	if m, _ := explain.(map[string]any); m["lastAttempt"] != nil && r.State != "RUN_SUCCESS" {
		if err := sh.lastAttempt(m); err != nil {
			return err
		}
	}
	sh.commands(nextForRun(r))
	return nil
}

// nextForRun are commands that go on from a run.
func nextForRun(r *runView) [][2]string {
	id := shellWord(r.ID)
	switch r.State {
	case "RUN_FAILED":
		return [][2]string{{"trireme runs resume " + id, "go on at the failed step"}, {"trireme runs restart " + id, "begin again"}, {"trireme runs explain " + id, "what is wrong"}}
	case "RUN_STARTED":
		all := [][2]string{{"trireme runs explain " + id, "what it waits for"}}
		for _, n := range r.flat() {
			if n.Wait != nil && n.State == "STEP_PROGRESS" {
				all = append(all, [2]string{"trireme runs notify " + shellWord(n.Wait.Event) + " '{}'", "send the event"})
			}
		}
		return append(all, [2]string{"trireme runs cancel " + id, ""})
	}
	return nil
}

// waterfall adds the steps of a run, each with a bar over the time of the run.
func (sh *sheet) waterfall(r *runView) error {
	steps := r.flat()
	if len(steps) == 0 {
		return nil
	}
	m, bars := marks{"#", ".", "!"}, barWidth
	if sh.to.symbols {
		m = marks{"█", "░", "✗"}
	}
	if sh.to.is {
		bars = max(10, min(80, sh.to.width/3))
	}
	sh.section("Steps (" + took(r.end()-r.Created) + " from left to right; " + m.works + " works, " + m.waits + " waits, " + m.fails + " fails)")
	lines := [][]text{{{"  #", dim}, {"NAME", dim}, {"TYPE", dim}, {"STATE", dim}, {strings.Repeat(" ", bars), plainStyle}, {"TOOK", dim}, {"", dim}}}
	for _, n := range steps {
		look, lane := looksOf(n.State), ""
		if n.parallel {
			lane = "| "
		}
		duration := n.time(r.end())
		lines = append(lines, []text{
			{"  " + strconv.Itoa(n.ID), plainStyle}, {lane + cut(dash(printable(n.Name)), 24), plainStyle}, {dash(n.Type), plainStyle},
			{sh.to.symbol(look.symbol) + strings.TrimPrefix(n.State, "STEP_"), look.style}, {n.bar(r.Created, r.end(), bars, m), look.style}, {took(duration), plainStyle},
			{printable(n.note()), plainStyle},
		})
	}
	if sh.to.is && sh.format != asWide {
		sh.fit(lines, make([]column, len(lines[0])))
	}
	return sh.align(&sh.b, lines)
}
