package cli

import (
	"slices"
	"strings"
)

// The names of states, as the API takes and answers them.
var (
	messageStates  = []string{"CREATED", "ACTIVE", "RETRY", "ERROR", "IN_PROGRESS", "DELIVERED", "FAILED", "CANCEL_REQUESTED", "CANCELED"}
	runStates      = []string{"RUN_STARTED", "RUN_SUCCESS", "RUN_FAILED", "RUN_CANCELED"}
	stepStates     = []string{"STEP_PROGRESS", "STEP_SUCCESS", "STEP_RETRY", "STEP_FAILED", "STEP_CANCELED"}
	runEventStates = append(slices.Clone(runStates), stepStates...)
	callbackStates = []string{"CALLBACK_INPROGRESS", "CALLBACK_SUCCESS", "CALLBACK_FAIL", "CALLBACK_CANCELED"}
	orders         = []string{"earliestFirst", "latestFirst"}
)

// looks are the symbol and the style of a state. Colour is never the only sign: the name stands beside it.
type looks struct {
	symbol string
	style  style
}

// looksOf returns how a state is shown, by what its name says.
func looksOf(state string) looks {
	name := state[strings.LastIndexByte(state, '_')+1:]
	switch name {
	case "DELIVERED", "SUCCESS", "COMPLETED":
		return looks{"✓", green}
	case "FAILED", "FAIL", "ERROR":
		return looks{"✗", red}
	case "RETRY":
		return looks{"↻", yellow}
	case "ACTIVE", "STARTED", "PROGRESS", "INPROGRESS":
		return looks{"●", blue}
	case "CREATED":
		return looks{"○", blue}
	case "CANCELED", "CANCELLED", "REQUESTED", "STOPPED":
		return looks{"–", dim}
	}
	return looks{}
}

// stateForm is the form of a state.
var stateForm = &form{text: plain, paint: func(v any) style {
	name, _ := v.(string)
	return looksOf(name).style
}}

// statusForm shows a status of HTTP; it shows 0, which means that there was no answer, as nothing.
var statusForm = &form{text: none.text, data: none.data, paint: func(v any) style {
	if n, ok := number(v); ok && n >= 400 {
		return red
	}
	return plainStyle
}}

// pausedForm is the form of whether something is paused.
var pausedForm = &form{text: plain, paint: func(v any) style {
	if v == true {
		return yellow
	}
	return plainStyle
}}

// checkChoice refuses a value of a filter that is none of its choices. A list has commas, and the API takes any case of letters.
func checkChoice(flag, text string, choices []string) error {
	for word := range strings.SplitSeq(text, ",") {
		name := strings.ReplaceAll(strings.ToUpper(strings.TrimSpace(word)), "CANCELLED", "CANCELED")
		if slices.ContainsFunc(choices, func(c string) bool { return strings.ToUpper(c) == name }) {
			continue
		}
		return Usagef("--%s must be %s, got %q%s", flag, listed(choices), word, didYouMean("", nearest(word, choices)))
	}
	return nil
}

// listed is a list of words for a sentence: a, b or c.
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
