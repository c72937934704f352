package cli

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// explained prints the explanation of a message, a queue or a flow-control key.
func (s *session) explained(path string) error {
	var answer struct {
		Explain json.RawMessage `json:"explain"`
	}
	if err := s.receive(s.ctx, request{method: "GET", path: s.in(path), query: url.Values{"explain": {"true"}}}, &answer); err != nil {
		return err
	}
	if answer.Explain == nil {
		return s.say(map[string]string{"reason": "idle", "text": "it waits for nothing"}, "it waits for nothing")
	}
	return s.explanation(answer.Explain)
}

// explanation prints an explanation: as a page, or as it came.
func (s *session) explanation(doc json.RawMessage) error {
	if !s.forPeople() {
		return s.fields(s.cmd.OutOrStdout(), doc, "reason")
	}
	sh := &sheet{output: &s.output}
	members, err := ordered(doc)
	if err != nil {
		return err
	}
	if err := sh.explain(members); err != nil {
		return err
	}
	return sh.print(s.cmd.OutOrStdout())
}

// told are the members of an explanation that have a place of their own on its page.
var told = strings.Fields("reason text command resume curl hint lastAttempt answer awaits mismatches delivery step error workflowRunId workflowUrl workflowState workflowCreatedAt standing")

// explain adds what an explanation says.
func (sh *sheet) explain(members []member) error {
	of := map[string]any{}
	var rest [][2]string
	for _, m := range members {
		of[m.name] = m.value
		if slices.Contains(told, m.name) {
			continue
		}
		value := formOf(m.name).show(m.value)
		if formOf(m.name) == when {
			value = sh.moment(m.value)
		}
		rest = append(rest, [2]string{spaced(m.name), value})
	}
	if state := textOf(of, "workflowState"); state != "" {
		sh.headline(state, textOf(of, "workflowRunId"), textOf(of, "workflowUrl"))
	}
	sh.b.WriteString(sh.to.paint(yellow, textOf(of, "reason")) + ": " + textOf(of, "text") + "\n")
	sh.sentence(textOf(of, "delivery.text"))
	if err := sh.pairs(rest); err != nil {
		return err
	}
	if err := sh.lastAttempt(of); err != nil {
		return err
	}
	for _, list := range []struct{ title, key string }{{"Waits for", "awaits"}, {"What is wrong", "mismatches"}} {
		if items, _ := of[list.key].([]any); len(items) > 0 {
			sh.section(list.title)
			for _, item := range items {
				sh.sentence("  " + textOf(item, "text"))
			}
		}
	}
	if hint := textOf(of, "hint"); hint != "" {
		sh.section("Look at")
		sh.sentence("  " + hint)
	}
	sh.commands(nextForExplained(of))
	return nil
}

// nextForExplained are the commands that go on from an explanation. The API names some as a request of HTTP; what this program has a
// command for is that.
func nextForExplained(of map[string]any) [][2]string {
	all := [][2]string{{textOf(of, "command"), ""}}
	if of["resume"] != nil {
		all = append(all, [2]string{"trireme runs resume " + shellWord(textOf(of, "workflowRunId")), "go on at the failed step"})
	}
	awaits, _ := of["awaits"].([]any)
	for _, a := range awaits {
		if event := textOf(a, "eventId"); event != "" {
			all = append(all, [2]string{"trireme runs notify " + shellWord(event) + " '{}'", "send the event"})
		}
	}
	return append(all, [2]string{textOf(of, "curl"), "the call, by hand"})
}

// lastAttempt adds the last attempt of an explanation.
func (sh *sheet) lastAttempt(of map[string]any) error {
	last, problem := of["lastAttempt"], textOf(of, "error")
	if last == nil && problem == "" && of["answer"] == nil {
		return nil
	}
	sh.section("Last attempt")
	status := textOf(last, "responseStatus")
	if status == "" {
		status = textOf(last, "status")
	}
	if status == "0" {
		status = ""
	}
	if problem == "" {
		problem = textOf(last, "error")
	}
	answer := textOf(of, "answer")
	if answer == "" && textOf(last, "state") == "" { // the body of an event is that of the message
		answer = textOf(last, "body")
	}
	return sh.pairs([][2]string{{"  AT", sh.moment((column{member: "time"}).raw(last))}, {"  STATUS", status}, {"  ERROR", problem}, {"  ANSWER", sh.clip(answer, longText)}})
}
