package jsonbody

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAdmitCounts: elements, members and their contents count; texts, and the content of a member that is kept as it is, don't.
func TestAdmitCounts(t *testing.T) {
	r := httptest.NewRequest("POST", "/", nil)
	three := Bounds{Items: 3, Raw: "body"}
	for body, want := range map[string]string{
		"": "", "x": "", "[1,2,3]": "", "[1,2,3,4]": "3 elements", `["a,b","c\",\"d","\\"]`: "", `["\\","a","b","c"]`: "3 elements",
		"[" + strings.Repeat("0,", MaxValues) + "0]":                                                 "3 elements",
		`[{"a":[` + strings.Repeat("0,", MaxValues) + "0]}]":                                         "1000000 values",
		`{"a":[` + strings.Repeat("0,", MaxValues) + "0]}":                                           "1000000 values",
		strings.Repeat("[", MaxValues+1):                                                             "1000000 values",
		`[{"body":[` + strings.Repeat("0,", MaxValues) + "0]}]":                                      "",
		`[{"body":{"b":[` + strings.Repeat("{},", MaxValues) + `0]},"c":1},{"body":"body"}]`:         "",
		`[{"body":[0],"a":[` + strings.Repeat("0,", MaxValues) + "0]}]":                              "1000000 values",
		`[{"body":[0]},{"a":[` + strings.Repeat("0,", MaxValues) + "0]}]":                            "1000000 values",
		`[{"a":"body","b":[` + strings.Repeat("0,", MaxValues) + "0]}]":                              "1000000 values",
		`[{"headers":{"body":[` + strings.Repeat("0,", MaxValues) + "0]}}]":                          "1000000 values",
		`[{"a":"` + strings.Repeat(`,[{`, MaxValues) + `\"` + strings.Repeat(",", MaxValues) + `"}]`: "",
	} {
		err := Admit(r, []byte(body), three)
		var many *Error
		if want == "" && err != nil || want != "" && (!errors.As(err, &many) || many.Status != 400 || !strings.Contains(many.Text, "more than "+want)) {
			t.Errorf("%.30s…: %v, want %q", body, err, want)
		}
	}
}
