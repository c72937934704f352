package jsonbody

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

// order has a member of each kind.
type order struct {
	Name  string   `json:"name"`
	Count int64    `json:"count"`
	Share float64  `json:"share"`
	Now   bool     `json:"now"`
	Tags  []string `json:"tags"`
	Blob  []byte   `json:"blob"`
	Inner *order   `json:"inner"`
}

// TestRefusalsAreInJSONsWords: each error says what is wrong and where, and none names a Go type.
func TestRefusalsAreInJSONsWords(t *testing.T) {
	for body, says := range map[string]string{
		`[]`:                              "expected an object, got array",
		`"x"`:                             "expected an object, got string",
		`{"name":1}`:                      "name: expected a string, got number",
		`{"count":"1"}`:                   "count: expected an integer, got string",
		`{"count":1.5}`:                   "count: expected an integer, got number 1.5",
		`{"count":99999999999999999999}`:  "count: expected an integer, got number 99999999999999999999",
		`{"share":[]}`:                    "share: expected a number, got array",
		`{"now":"yes"}`:                   "now: expected true or false, got string",
		`{"tags":{}}`:                     "tags: expected an array, got object",
		`{"blob":7}`:                      "blob: expected a string in base64, got number",
		`{"inner":{"inner":{"name":{}}}}`: "inner.inner.name: expected a string, got object",
		`{"nmae":"x"}`:                    `unknown field "nmae"`,
		`{"inner":{"nmae":"x"}}`:          `unknown field "nmae"`,
		`{"name":`:                        "it ends too early",
		`{"name":"x",}`:                   "invalid character",
		`{} {}`:                           "expected its end at byte",
		`{}]`:                             "expected its end at byte",
		`name`:                            "invalid character",
	} {
		var got order
		err := Read(nil, httptest.NewRequest("POST", "/", strings.NewReader(body)), 1000, &got)
		var refused *Error
		if !errors.As(err, &refused) || refused.Status != 400 || !strings.HasPrefix(refused.Text, "expected a JSON object: ") || !strings.Contains(refused.Text, says) {
			t.Errorf("%s: %v, want %q in it", body, err, says)
		}
		if err != nil && strings.Contains(err.Error(), "jsonbody") {
			t.Errorf("%s: a Go type is in %q", body, err)
		}
	}
}

// TestBodiesThatAreRead: an empty body changes nothing, and a member that is not given stays.
func TestBodiesThatAreRead(t *testing.T) {
	for body, want := range map[string]string{"": "as it was", " \n": "as it was", "{}": "as it was", `{"count":3}`: "as it was", " {\"name\":\"new\"} \n": "new"} {
		got := order{Name: "as it was"}
		if err := Read(nil, httptest.NewRequest("POST", "/", strings.NewReader(body)), 1000, &got); err != nil || got.Name != want {
			t.Errorf("%q: %+v, %v", body, got, err)
		}
	}
}

// TestTheLimitIsNamed: a body of the limit is read, one byte more is 413, and a body that breaks off is no JSON error.
func TestTheLimitIsNamed(t *testing.T) {
	body := `{"name":"` + strings.Repeat("x", 100-len(`{"name":""}`)) + `"}`
	var got order
	if err := Read(nil, httptest.NewRequest("POST", "/", strings.NewReader(body)), 100, &got); err != nil {
		t.Errorf("a body of the limit: %v", err)
	}
	var refused *Error
	err := Read(nil, httptest.NewRequest("POST", "/", strings.NewReader(body+" ")), 100, &got)
	if !errors.As(err, &refused) || refused.Status != 413 || refused.Text != "the body is larger than 100 bytes" {
		t.Errorf("a byte more: %v", err)
	}
	broken := httptest.NewRequest("POST", "/", iotest.ErrReader(errors.New("connection reset")))
	if err := Read(nil, broken, 100, &got); !errors.As(err, &refused) || refused.Status != 400 || !strings.Contains(refused.Text, "incomplete: connection reset") {
		t.Errorf("a body that breaks off: %v", err)
	}
}
