package cli

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"
)

// mostAttempts is the number of events that the page of a message looks at, the newest.
const mostAttempts = 200

// showMessage prints a message: as a page with its attempts, or as the API has it.
func (s *session) showMessage() error {
	id := s.args[0]
	path := s.in("/v2/messages/" + escape(id))
	if !s.forPeople() {
		return s.show(path, "messageId")
	}
	doc, err := s.get(path + "?explain=true")
	if err != nil {
		return err
	}
	members, err := ordered(doc)
	if err != nil {
		return err
	}
	events, err := s.pages(&eventList, url.Values{"messageId": {id}}, paging{limit: mostAttempts})
	if err != nil {
		return err
	}
	history, err := events.values()
	if err != nil {
		return err
	}
	slices.Reverse(history)
	sh := &sheet{output: &s.output}
	if err := sh.message(members, attemptsOf(history), history); err != nil {
		return err
	}
	return sh.print(s.cmd.OutOrStdout())
}

// An attempt is one delivery of a message.
type attempt struct {
	begin, end int64 // unix milliseconds; end is 0 while it is under way
	state      string
	status     string
	said       string
}

// attemptsOf pairs the events of a message, the earliest first: ACTIVE begins an attempt, and the next event is its outcome.
func attemptsOf(events []any) (all []attempt) {
	open := false
	for _, e := range events {
		at, _ := number((column{member: "time"}).raw(e))
		switch state := textOf(e, "state"); {
		case state == "ACTIVE":
			all, open = append(all, attempt{begin: at, state: state}), true
		case open:
			last := &all[len(all)-1]
			last.end, last.state, last.status, last.said = at, state, textOf(e, "responseStatus"), textOf(e, "error")
			if body, _ := base64.StdEncoding.DecodeString(textOf(e, "responseBody")); last.said == "" && utf8.Valid(body) {
				last.said = printable(string(body))
			}
			open = false
		}
	}
	return all
}

// ahead are the members of a message that its page shows before the others, and those that it shows elsewhere.
var ahead = []string{"messageId", "url", "method", "explain", "createdAt"}

// message adds the page of a message.
func (sh *sheet) message(members []member, attempts []attempt, events []any) error {
	of := map[string]any{}
	rest := [][2]string{}
	for _, m := range members {
		of[m.name] = m.value
		if !slices.Contains(ahead, m.name) {
			value := formOf(m.name).show(m.value)
			if formOf(m.name) == when {
				value = sh.moment(m.value)
			}
			rest = append(rest, [2]string{spaced(m.name), sh.clip(value, longText)})
		}
	}
	state := "CREATED"
	if len(events) > 0 {
		state = textOf(events[len(events)-1], "state")
	}
	explain, _ := of["explain"].(map[string]any)
	sh.headline(state, textOf(of, "messageId"), textOf(of, "method")+" "+textOf(of, "url"))
	sh.sentence(textOf(explain, "text"))
	if next := sh.moment(explain["next"]); next != "" {
		sh.sentence("next: " + next)
	}
	sh.b.WriteByte('\n')
	if err := sh.pairs(append([][2]string{{"CREATED", sh.moment(of["createdAt"])}}, rest...)); err != nil {
		return err
	}
	if err := sh.attempts(attempts, textOf(explain, "allowed")); err != nil {
		return err
	}
	if hint := textOf(explain, "hint"); hint != "" {
		sh.section("Look at")
		sh.sentence("  " + hint)
	}
	sh.commands(append([][2]string{{textOf(explain, "command"), ""}}, nextForMessage(state, textOf(of, "messageId"), textOf(explain, "dlqId"), textOf(explain, "command"))...))
	return nil
}

func (sh *sheet) attempts(all []attempt, allowed string) error {
	if len(all) == 0 {
		return nil
	}
	title := "Attempts"
	if allowed != "" {
		title += " (" + strconv.Itoa(len(all)) + " of " + allowed + ")"
	}
	sh.section(title)
	lines := [][]text{{{"  #", dim}, {"BEGAN", dim}, {"TOOK", dim}, {"STATUS", dim}, {"OUTCOME", dim}, {"ANSWER", dim}}}
	for i, a := range all {
		duration := "-"
		if a.end > 0 {
			duration = took(a.end - a.begin)
		}
		look := looksOf(a.state)
		lines = append(lines, []text{{"  " + strconv.Itoa(i+1), plainStyle}, {when.data(strconv.FormatInt(a.begin, 10)), plainStyle}, {duration, plainStyle},
			{dash(a.status), plainStyle}, {sh.to.symbol(look.symbol) + a.state, look.style}, {sh.clip(dash(a.said), 100), plainStyle}})
	}
	return sh.align(&sh.b, lines)
}

// nextForMessage are commands that go on from a message in a state. The one that its explanation names stands first already.
func nextForMessage(state, id, letter, named string) [][2]string {
	id = shellWord(id)
	switch {
	case state == "DELIVERED" || state == "CANCELED":
		return nil
	case letter != "":
		return except(named, [][2]string{{"trireme dlq retry " + letter, "publish it again"}, {"trireme dlq get " + letter, "the last response"}})
	}
	return except(named, [][2]string{{"trireme messages explain " + id, "why it waits"}, {"trireme messages run " + id, "attempt it now"}, {"trireme messages cancel " + id, ""}})
}

// except leaves out a command that is named already.
func except(named string, lines [][2]string) [][2]string {
	return slices.DeleteFunc(lines, func(l [2]string) bool { return l[0] == named })
}
