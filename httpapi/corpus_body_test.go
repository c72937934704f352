package httpapi_test

import (
	"fmt"
	"strings"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// framings returns bodies whose length is given wrongly, or twice.
func framings() []attack {
	with := func(body string, header ...string) string { return request("POST / HTTP/1.1", header...) + body }
	const (
		ping    = `["PING"]`
		chunked = "Transfer-Encoding: chunked"
		chunks  = "8\r\n" + ping + "\r\n0\r\n\r\n"
	)
	list := []attack{
		{"length and chunks, the rest a request", with(chunks+smuggled, "Content-Length: 5", chunked), "200"},
		{"length and chunks, the chunks shorter", with("0\r\n\r\n"+smuggled, "Content-Length: 200", chunked), "400"},
		{"chunks and length, the other order", with("0\r\n\r\n"+smuggled, chunked, "Content-Length: 200"), "400"},
		{"two lengths that differ", with(ping+smuggled, "Content-Length: 8", "Content-Length: 100"), "400"},
		{"two equal lengths", with(ping, "Content-Length: 8", "Content-Length: 8"), "200"},
		{"list of lengths", with(ping, "Content-Length: 8, 8"), "400"},
		{"length too short", with(ping+"\r\n\r\n", "Content-Length: 7"), "400 400"},
		{"length too long", with(ping, "Content-Length: 80"), "400"},
		{"no length", with(ping), "400 400"},
		{"two codings", with(chunks, chunked, chunked), "501"},
		{"chunks within gzip", with(chunks, "Transfer-Encoding: gzip, chunked"), "501"},
		{"chunks and identity", with(chunks, "Transfer-Encoding: chunked, identity"), "501"},
		{"coding with a prefix", with(chunks, "Transfer-Encoding: xchunked"), "501"},
		{"coding in quotes", with(chunks, `Transfer-Encoding: "chunked"`), "501"},
		{"coding behind a tab", with(chunks, "Transfer-Encoding:\tchunked"), "200"},
		{"coding behind a vertical tab", with(chunks, "Transfer-Encoding: \x0bchunked"), "400"},
		{"coding in capitals", with(chunks, "TRANSFER-ENCODING: CHUNKED"), "200"},
		{"empty coding", with(chunks, "Transfer-Encoding:"), "501"},
		{"coding with a space before the colon", with(chunks, "Transfer-Encoding : chunked"), "400"},
		{"coding with HTTP/1.0", request("POST / HTTP/1.0", chunked) + chunks, "400"},
		{"chunk that ends early", with("8\r\n[\"PI", chunked), "400"},
		{"chunks without an end", with("8\r\n"+ping+"\r\n", chunked), "400"},
		{"chunk longer than it says", with("4\r\n"+ping+"\r\n0\r\n\r\n"+smuggled, chunked), "400"},
		{"chunk without a line end", with("8\r\n"+ping+"0\r\n\r\n"+smuggled, chunked), "400"},
		{"chunk size with a line feed only", with("8\n"+ping+"\r\n0\r\n\r\n"+smuggled, chunked), "400"},
		{"trailer", with("8\r\n"+ping+"\r\n0\r\nX-A: b\r\n\r\n", chunked), "200"},
		{"trailer that is a length", with("8\r\n"+ping+"\r\n0\r\nContent-Length: 5\r\n\r\n"+smuggled, chunked), "200"},
		{"trailer that is a token", with("8\r\n"+ping+"\r\n0\r\nAuthorization: x\r\n\r\n", chunked), "200"},
		{"trailer without an end", with("8\r\n"+ping+"\r\n0\r\nX-A: b", chunked), "400"},
		{"long chunk extension", with("8;"+strings.Repeat("x", 70_000)+"\r\n"+ping+"\r\n0\r\n\r\n", chunked), "400"},
		{"thousands of tiny chunks", with(strings.Repeat("1\r\n \r\n", 20_000)+chunks, chunked), "200"},
		{"body of a GET that is a request", request("GET /ping HTTP/1.1", fmt.Sprint("Content-Length: ", len(smuggled))) + smuggled, "200"},
		{"length and chunks of a GET", request("GET /ping HTTP/1.1", "Content-Length: 5", chunked) + "0\r\n\r\n" + smuggled, "200"},
		{"length and chunks without a token", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n" + chunked + "\r\n\r\n0\r\n\r\n" + smuggled, "401"},
		{"length and chunks to a fixed path", request("GET /livez HTTP/1.1", "Content-Length: 5", chunked) + "0\r\n\r\n" + smuggled, "200"},
		{"body of a HEAD", request("HEAD /ping HTTP/1.1", "Content-Length: 3") + "abc", "200"},
	}
	for _, length := range []string{"-1", "+8", "0x8", "8.0", "8e0", "", " ", "eight", "8 8", "9223372036854775808", "18446744073709551616", "99999999999999999999999"} {
		list = append(list, attack{"length " + length, with(ping, "Content-Length: "+length), "400"})
	}
	for _, size := range []string{"-8", "+8", "0x8", "", "g", "8 8", "fffffffffffffffff", "10000000000000000"} {
		list = append(list, attack{"chunk size " + size, with(size+"\r\n"+ping+"\r\n0\r\n\r\n"+smuggled, chunked), "400"})
	}
	return list
}

// bodies returns bodies that are no array of words.
func bodies() []attack {
	const whole = `["SET","smuggled","\u00e9\n",1.5e3,true]`
	var list []attack
	for i := range len(whole) {
		list = append(list, attack{fmt.Sprintf("JSON cut at byte %d", i), post("/", whole[:i]), "400"})
	}
	for _, text := range []string{
		"x", "nul", "null", "true", "12", `"PING"`, "{}", `{"a":[1]}`, "[", "]", "[]", "[,]", `["PING",]`, `[,"PING"]`, `["PING"]]`, `["PING"]["PING"]`,
		`["PING"] x`, `['PING']`, `[PING]`, "[\"PI\nNG\"]", "[\"PI\x00NG\"]", `["\x41"]`, `["\u12"]`, `["\u12g4"]`, `["\"]`, `["PING",NaN]`, `["PING",Infinity]`,
		`["PING",+1]`, `["PING",01]`, `["PING",1.]`, `["PING",.5]`, `["PING",1e]`, `["PING",0x1]`, `["PING",-]`, `["PING",tru]`, `["PING",TRUE]`,
		`["PING",null]`, `["PING",{}]`, `["PING",[]]`, `["PING"/**/]`, "\xef\xbb\xbf[\"PING\"]", "\xff\xfe[\x00\"\x00P\x00", "\x1f\x8b\x08\x00\x00\x00", "a=b&c=d",
		"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n[]\r\n--b--\r\n", "<xml/>",
	} {
		list = append(list, attack{fmt.Sprintf("body %q", text), post("/", text), "400"})
	}
	for _, target := range []string{"/", "/pipeline", "/multi-exec"} {
		for name, text := range map[string]string{
			"arrays": strings.Repeat("[", 100_000), "closed arrays": strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
			"objects": strings.Repeat(`{"a":`, 100_000), "both": strings.Repeat(`[{"a":`, 50_000),
		} {
			list = append(list, attack{"100,000 levels of " + name + " to " + target, post(target, text), "400"})
		}
	}
	return append(list,
		attack{"deep row", post("/pipeline", `[["PING",`+strings.Repeat("[", 100_000)), "400"},
		attack{"deep text", post("/", `["ECHO","`+strings.Repeat("[", 100_000)+`"]`), "200"},
		attack{"too many words", post("/", "["+strings.Repeat("1,", 1_000_000)+"1]"), "400"},
		attack{"too many rows", post("/pipeline", "["+strings.Repeat(`["PING"],`, 10_000)+`["PING"]]`), "400"},
		attack{"too large", post("/", `["ECHO","`+strings.Repeat("x", 3<<20)+`"]`), "400"},
		attack{"too large in chunks", request("POST / HTTP/1.1", "Transfer-Encoding: chunked") + strings.Repeat("10000\r\n"+strings.Repeat("x", 65536)+"\r\n", 48) + "0\r\n\r\n", "400"},
		attack{"number of a million digits", post("/", `["ECHO",`+strings.Repeat("9", 1_000_000)+`]`), "200"},
		attack{"string without an end", post("/", `["`+strings.Repeat("x", 1_000_000)), "400"},
		attack{"a million blanks", post("/", strings.Repeat(" ", 1_000_000)), "400"},
		attack{"a million escapes", post("/", `["ECHO","`+strings.Repeat(`\u0000`, 300_000)+`"]`), "200"},
		attack{"lone surrogates", post("/", `["ECHO","\ud800\udc00\udc00\ud800"]`), "200"},
		attack{"text that is not UTF-8", post("/", "[\"ECHO\",\"\xff\xc0\x80\xed\xa0\x80\"]"), "200"},
		attack{"repeated keys", post("/", `[{"a":1,"a":2}]`), "400"},
		attack{"null row", post("/multi-exec", `[["SET","smuggled","1"],null]`), "400"},
		attack{"row of a number", post("/pipeline", `[["SET","smuggled","1"],7]`), "400"},
		attack{"row of an object", post("/pipeline", `[["SET","smuggled","1"],{}]`), "400"},
		attack{"empty row", post("/pipeline", `[["SET","smuggled","1"],[]]`), "400"},
		attack{"rows without an end", post("/pipeline", `[["SET","smuggled","1"],["PING"]`), "400"},
	)
}

// words returns command words that no command should get.
func words() []attack {
	list := []attack{
		{"name of NULs", post("/", `["\u0000\u0000"]`), "400"},
		{"name with line ends", post("/", `["GET\r\nX: y"]`), "400"},
		{"long name", post("/", `["`+strings.Repeat("N", 500_000)+`"]`), "400"},
		{"empty name", post("/", `[""]`), "400"},
		{"number as a name", post("/", `[1e999]`), "400"},
		{"truth as a name", post("/", `[true]`), "400"},
		{"path of a colon", request("GET /:/ HTTP/1.1"), "400"},
		{"path with line ends", request("GET /set%0d%0aX:%20y/k/v HTTP/1.1"), "400"},
		{"path to a file", request("GET /../../etc/passwd HTTP/1.1"), "400"},
		{"endpoint with a word too many", post("/pipeline/x", `[["SET","smuggled","1"]]`), "400"},
		{"endpoint in capitals", post("/PIPELINE", `[["SET","smuggled","1"]]`), "400"},
		{"endpoint with an escape", post("/pipelin%65", `[["PING"]]`), "200"},
	}
	for _, header := range []string{
		"Svc-Response-Format: xml", "Svc-Response-Format: resp2, json", "Svc-Response-Format: \xff", "Svc-Consistency: sometimes",
		"Svc-Request-Id: " + strings.Repeat("x", 200), "Svc-Request-Id:", "Svc-Encoding: base64\r\nSvc-Response-Format: resp2",
	} {
		list = append(list, attack{fmt.Sprintf("header %.40q", header), request("GET /set/smuggled/1 HTTP/1.1", header), "400"})
	}
	return list
}

// credentials returns tokens that open nothing.
func credentials() []attack {
	var list []attack
	for _, token := range []string{"", "Bearer", "Bearer ", "Bearer \xff", "Basic dXNlcjpwYXNz", "Bearer " + httpapitest.Token + " x", "Bearer  " + httpapitest.Token,
		"Bearer " + strings.ToUpper(httpapitest.Token), "Bearer " + strings.Repeat("x", 30_000), "Bearer " + httpapitest.MessagesToken, "Digest a=b, c=d"} {
		list = append(list, attack{fmt.Sprintf("credential %.40q", token),
			"GET /set/smuggled/1 HTTP/1.1\r\nHost: h\r\nAuthorization: " + token + "\r\n\r\n", "401"})
	}
	for _, query := range []string{"_token=", "_token", "_token=%00", "_token=%zz", "_token=x&_token=" + httpapitest.Token, "_TOKEN=" + httpapitest.Token} {
		list = append(list, attack{"query " + query[:min(len(query), 20)], "GET /set/smuggled/1?" + query + " HTTP/1.1\r\nHost: h\r\n\r\n", "401"})
	}
	return append(list,
		attack{"two credentials", "GET /set/smuggled/1 HTTP/1.1\r\nHost: h\r\nAuthorization: x\r\nAuthorization: Bearer " + httpapitest.Token + "\r\n\r\n", "400"},
		attack{"body without a token", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 23\r\n\r\n[\"SET\",\"smuggled\",\"1\"] ", "401"},
	)
}
