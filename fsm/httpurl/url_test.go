package httpurl

import (
	"strings"
	"testing"
)

// TestRead compares what each part may hold and how it is stored, without Node. idn.TestAsNode compares many more with Node.
func TestRead(t *testing.T) {
	for in, want := range map[string]string{
		"http://h/a b?name=Ada L#x y":       "http://h/a%20b?name=Ada%20L#x%20y",
		"http://h/\"<>`{}^|[]'\\":           "http://h/%22%3C%3E%60%7B%7D%5E|[]'/",
		"http://h?\"<>`{}^|[]'\\":           "http://h?%22%3C%3E`{}^|[]%27\\",
		"http://h/#\"<>`{}^|[]'\\":          "http://h/#%22%3C%3E%60{}^|[]'\\",
		"http://u p:'\"<>`{}^|[]@h":         "http://u%20p:'%22%3C%3E%60%7B%7D%5E%7C%5B%5D@h",
		"http://h/ü?ü#ü":                    "http://h/%C3%BC?%C3%BC#%C3%BC",
		"http://h/\x01\x7f\xff":             "http://h/%01%7F%FF",
		" \x00http://h/ \x1f":               "http://h/",
		"ht\ttp://h\n/a\r\tb":               "http://h/ab",
		"HTTPS:\\\\H.Example\\a\\b?c\\d":    "HTTPS://H.Example/a/b?c\\d",
		"http://h/100%/%zz%2fa%2":           "http://h/100%/%zz%2fa%2",
		"http://h/a/../b/./c/%2e%2E/d/..":   "http://h/a/../b/./c/%2e%2E/d/..",
		"http://h/../..":                    "http://h/../..",
		"http://h":                          "http://h",
		"http://h?":                         "http://h?",
		"http://h:80/":                      "http://h:80/",
		"https://h:443":                     "https://h:443",
		"https://h:080":                     "https://h:080",
		"http://@h:/":                       "http://h/",
		"http://a@b:c@h":                    "http://a%40b:c@h",
		"http://0x7f.1/":                    "http://127.0.0.1/",
		"http://017700000001":               "http://127.0.0.1",
		"http://4294967295":                 "http://255.255.255.255",
		"http://%31.2.3.4":                  "http://1.2.3.4",
		"http://[::FFFF:1.2.3.4]:81":        "http://[::FFFF:1.2.3.4]:81",
		"http://[1:0:0:2:0:0:0:3]":          "http://[1:0:0:2:0:0:0:3]",
		"http://[0:0:0:0:0:0:0:0]":          "http://[0:0:0:0:0:0:0:0]",
		"http://[0:0:1:0:0:0:0:0]/":         "http://[0:0:1:0:0:0:0:0]/",
		"http://a_b.c-d.":                   "http://a_b.c-d.",
		"http://xn--bcher-kva.example/":     "http://xn--bcher-kva.example/",
		"http://" + strings.Repeat("a", 63): "http://" + strings.Repeat("a", 63),
	} {
		u, err := Read(in, nil)
		if got := u.String(); want != "" && (err != nil || got != want) {
			t.Errorf("%q is read as %s (%v), want %s", in, got, err, want)
		} else if want == "" && err == nil {
			t.Errorf("%q is read as %s", in, got)
		}
		if err == nil {
			if again, err := Read(want, nil); err != nil || again != u {
				t.Errorf("%s, read again, is %s (%v)", want, again.String(), err)
			}
		}
	}
}

// TestReadRefuses what no connection can be made to.
func TestReadRefuses(t *testing.T) {
	for in, want := range map[string]error{
		"": errScheme, "h": errScheme, "ftp://h": errScheme, "http:h": errScheme, "http:/h": errScheme, "//h": errScheme, "mailto:http://h": errScheme,
		"http://": errNoHost, "http:///h": errNoHost, "http://:80": errNoHost, "http://u@": errNoHost, "http://?x": errNoHost,
		"http://h:0": errPort, "http://h:00": errPort, "http://h:65536": errPort, "http://h:99999": errPort, "http://h:999999999999999999999": errPort, "http://h:a": errPort,
		"http://h:8 0": errPort, "http://h:-1": errPort, "http://h:+1": errPort, "http://[::1]:0": errPort,
		"http://a b": errHost, "http://a%20b": errHost, "http://a%00": errHost, "http://a%25": errHost, "http://a%": errHost, "http://a<b": errHost, "http://a^b": errHost, "http://a|b": errHost,
		"http://\xff": errHost, "http://%ff": errHost, "http://1:2:3": errHost,
		"http://-a": errName, "http://a-": errName, "http://a-.b": errName, "http://a..b": errName, "http://.a": errName, "http://.": errName, "http://a!": errName, "http://a,b": errName,
		"http://" + strings.Repeat("a", 64): errName, "http://" + strings.Repeat("a.", 127) + "a": errName,
		"http://256.1.1.1": errIPv4, "http://1.2.3.4.5": errIPv4, "http://4294967296": errIPv4, "http://a.1": errIPv4, "http://09": errIPv4, "http://1..2": errIPv4, "http://0x1.0x100000000": errIPv4,
		"http://[::1": errIPv6, "http://[]": errIPv6, "http://[::1%eth0]": errIPv6, "http://[::1%25eth0]": errIPv6, "http://[1:2]": errIPv6, "http://[::01.2.3.4]": errIPv6, "http://[g::]": errIPv6,
		"http://ü.de": errUnicode, "http://%C3%BC.de": errUnicode,
	} {
		if u, err := Read(in, nil); err != want {
			t.Errorf("%q is %s, %v; want %v", in, u.String(), err, want)
		}
	}
}

// FuzzRead: what is read is read again as the same, and holds only what may stand in a request.
func FuzzRead(f *testing.F) {
	f.Add("http://u:p@h:81/a b/../c?d=e'#f")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := Read(text, nil)
		if err != nil {
			return
		}
		out := u.String()
		if again, err := Read(out, nil); err != nil || again != u {
			t.Fatalf("%q is %q, and that is %q (%v)", text, out, again.String(), err)
		}
		for i := range len(out) {
			if c := out[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
				t.Fatalf("%q is %q", text, out)
			}
		}
	})
}
