package spectest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

var routing = []claim{
	{"MP-1.1.1", func(t *testing.T, w *world) {
		to := w.to("ok") + "//a/./../b%2Fc"
		id := w.publish(t, to, "")
		want(t, "url", w.message(t, id).text("url"), to)
	}},
	{"MP-1.1.2", func(t *testing.T, w *world) {
		to := w.to("ok")
		id := w.publish(t, to+"?b=2&a=%20&b=1&upstash-delay=1h&qstash_token="+httpapitest.MessagesToken, "")
		want(t, "url", w.message(t, id).text("url"), to+"?b=2&a=%20&b=1")
	}},
	{"MP-1.1.3", func(t *testing.T, w *world) {
		for _, path := range []string{"/v2/dlq/", "/v2/queues/", "/v2/topics/", "/v2/flowControl/", "/v2/schedules/", "/v2/events/"} {
			want(t, path, w.ask(t, "GET", path, "").status, 200)
		}
		label := w.name()
		w.waits(t, "Svc-Label: "+label)
		w.ask(t, "DELETE", "/v2/messages/?label="+label, "").is(t, 202, `{"cancelled":1}`)
	}},
	{"MP-1.1.4", func(t *testing.T, w *world) {
		id := w.name()
		w.ask(t, "POST", "/v2/Schedules/"+w.to("ok"), "", "Svc-Cron: 0 0 1 1 *", "Svc-Schedule-Id: "+id).is(t, 200, `{"scheduleId":"`+id+`"}`)
		want(t, "id", w.ask(t, "GET", "/v2/Schedules/"+id, "").object(t).text("scheduleId"), id)
		w.ask(t, "GET", "/v2/schedules/"+strings.ToUpper(id), "").fails(t, 404, "")
		w.ask(t, "PATCH", "/v2/Schedules/"+id+"/Pause", "").is(t, 200, "")
		w.ask(t, "DELETE", "/v2/Schedules/"+id, "").is(t, 200, "")
	}},
	{"MP-1.1.5", func(t *testing.T, w *world) {
		key := "k/" + w.name() + " ä"
		w.ask(t, "POST", "/v2/flowControl/"+strings.ReplaceAll(query(key), "+", "%20")+"/pause", "").object(t)
		for _, form := range []string{strings.ReplaceAll(query(key), "+", "%20"), strings.NewReplacer(" ", "%20", "ä", "%c3%a4").Replace(key)} {
			want(t, "key", w.ask(t, "GET", "/v2/flowControl/"+form, "").object(t).text("flowControlKey"), key)
		}
	}},
	{"MP-1.1.6", func(t *testing.T, w *world) {
		id := w.waits(t)
		w.ask(t, "DELETE", "/v2/messages", `{"messageIds":["`+id+`"]}`).is(t, 202, `{"cancelled":1}`)
	}},
	{"MP-1.2.1", func(t *testing.T, w *world) {
		w.ask(t, "GET", "/v2/keys?qstash_token="+httpapitest.MessagesToken, "", "Authorization:").object(t)
	}},
	{"MP-1.2.2", func(t *testing.T, w *world) {
		readOnly := "Authorization: Bearer " + httpapitest.MessagesReadOnlyToken
		for _, op := range w.described.Operations() {
			if strings.Contains(op.Path, "/workflows/hooks/") { // its path is its credential
				continue
			}
			target := strings.NewReplacer("{", "", "}", "").Replace(op.Path)
			a := w.ask(t, op.Method, target, "", readOnly)
			if refused := a.status == 403; refused != (op.Method != "GET" || op.Path == "/v2/keys" || op.Path == "/v2/keys/rotate") {
				t.Errorf("%s %s: %d %s", op.Method, target, a.status, a.body)
			}
		}
	}},
	{"MP-3.1", func(t *testing.T, w *world) {
		for given, stored := range map[string]string{ // unordered: each by itself
			"http:/a.example/b":              "http://a.example/b",
			"https%3A%2F%2Fa.example%2Fb%3F": "https://a.example/b?",
			"http://example.com":             "http://example.com",
		} {
			want(t, given, w.message(t, w.publish(t, given, "", "Svc-Delay: 1h")).text("url"), stored)
		}
	}},
	{"MP-4.2.1", func(t *testing.T, w *world) {
		to := w.to("ok")
		id := w.publish(t, to, "", "Content-Type: text/a", "Svc-Forward-Upstash-Workflow-RunId: r", "Accept: text/b", "Cookie: a=b", "User-Agent: mine", "X-Forwarded-For: 10.0.0.1", "X-Other: o")
		want(t, "header", text(w.message(t, id)["header"]), `{"Content-Type":["text/a"],"Upstash-Workflow-Runid":["r"]}`)
		got := w.sink.arrived(t, to, 1)[0].header
		want(t, "one prefix taken", got.Get("Upstash-Workflow-RunId"), "r")
		for _, name := range []string{"Accept", "Cookie", "X-Forwarded-For", "X-Other", "Authorization"} {
			want(t, name, got.Get(name), "")
		}
	}},
	{"MP-4.2.2", func(t *testing.T, w *world) {
		to := w.to("ok")
		w.publish(t, to+"?qstash_token="+httpapitest.MessagesToken+"&upstash-header-forward=true", "", "Authorization: Bearer of-the-webhook", "X-Other: o", "Svc-Label: l")
		got := w.sink.arrived(t, to, 1)[0].header
		want(t, "forwarded", got.Get("X-Other")+" "+got.Get("Authorization"), "o Bearer of-the-webhook")
		want(t, "ours", got.Get("Svc-Label"), "")
		w.publish(t, to, "", "Svc-Header-Forward: true")
		want(t, "our token", w.sink.arrived(t, to, 2)[1].header.Get("Authorization"), "")
	}},
	{"MP-4.3", func(t *testing.T, w *world) {
		m := w.message(t, w.publish(t, w.to("ok")+"?upstash-retries=1&svc-delay=1h&upstash-label=q", "", "Svc-Label: h"))
		want(t, "retries", m.number("maxRetries"), 1)
		want(t, "delay", m.number("notBefore")-m.number("createdAt"), 3_600_000)
		want(t, "the header wins", m.text("label"), "h")
	}},
	{"MP-5.3.1", func(t *testing.T, w *world) {
		a, b := w.to("ok"), w.to("ok")
		group, queue := w.group(t, a, b), w.name()
		body := `[{"destination":"` + a + `","headers":{"Svc-Delay":"1h","Svc-Forward-A":["1","2"]},"body":"x","queue":null},
			{"destination":"` + group + `","body":null},{"destination":"` + b + `","queue":"` + queue + `","headers":{"Svc-Delay":"1h"}},{"destination":"nobody","queue":""}]`
		var all []json.RawMessage
		if err := json.Unmarshal([]byte(w.ask(t, "POST", "/v2/batch", body, "Svc-Retries: 9").body), &all); err != nil || len(all) != 4 {
			t.Fatal(all, err)
		}
		var first, third record
		var second []record
		if json.Unmarshal(all[0], &first) != nil || json.Unmarshal(all[1], &second) != nil || json.Unmarshal(all[2], &third) != nil || len(second) != 2 {
			t.Fatal(all)
		}
		m := w.message(t, first.text("messageId"))
		want(t, "header", text(m["header"]), `{"A":["1","2"]}`)
		want(t, "headers of the batch", m.number("maxRetries"), 3)
		want(t, "queue", w.message(t, third.text("messageId")).text("queueName"), queue)
		want(t, "the last one", string(all[3]), `{"error":"topic nobody not found"}`)
	}},
	{"MP-5.3.2", func(t *testing.T, w *world) {
		label := w.name()
		good := `{"destination":"` + w.to("ok") + `","headers":{"Svc-Delay":"1h","Svc-Label":"` + label + `"}}`
		for _, bad := range []string{`{"destination":"nowhere:x"}`, `{"destination":""}`, `{"destination":"http://a.example","headers":{"Svc-Delay":"soon"}}`, `{"destination":"http://a.example","headers":{"Svc-Deduplication-Id":"a:b"}}`, `7`} {
			w.ask(t, "POST", "/v2/batch", "["+good+","+bad+"]").fails(t, 400, "")
		}
		want(t, "published all the same", w.found(t, "label="+label), "")
	}},
	{"MP-6.2", func(t *testing.T, w *world) {
		a, b := w.to("ok"), w.to("ok")
		group, once := w.group(t, a), "Svc-Deduplication-Id: "+w.name()
		first := w.ask(t, "POST", "/v2/publish/"+group, "", once).list(t)
		w.ask(t, "POST", "/v2/topics/"+group+"/endpoints", `{"endpoints":[{"url":"`+b+`"}]}`).is(t, 200, "")
		second := w.ask(t, "POST", "/v2/publish/"+group, "", once).list(t)
		want(t, "the known endpoint", second[0].text("messageId"), first[0].text("messageId"))
		want(t, "deduplicated", second[0].has("deduplicated"), true)
		want(t, "the new one", second[1].has("deduplicated"), false)
	}},
	{"MP-17.1", func(t *testing.T, w *world) {
		m := w.message(t, w.waits(t, "Svc-Label: a , b,,c"))
		want(t, "first", m.text("label"), "a")
		want(t, "all", text(m["labels"]), `["a","b","c"]`)
	}},
	{"MP-17.2", func(t *testing.T, w *world) {
		sum := sha256.Sum256([]byte("secret"))
		guess, seen := "REDACTED:"+hexText(sum[:]), map[string]bool{}
		hidden := regexp.MustCompile(`^REDACTED:[0-9a-f]{64}$`)
		for given, names := range map[string][2]bool{"body": {true, false}, "header": {false, true}, "headers": {false, true}, "header[x-mine]": {false, true}, "body, headers[X-Mine]": {true, true}} { // unordered: each by itself
			to := w.to("500")
			d := w.deadLetter(t, to, "secret", "Svc-Forward-X-Mine: secret", "Svc-Redact-Fields: "+given)
			header := d.in("header")["X-Mine"].([]any)[0].(string)
			for i, shown := range []string{d.text("body"), header} {
				want(t, given+" is hidden", hidden.MatchString(shown), names[i])
				if names[i] {
					want(t, "can be guessed", shown == guess || seen[shown], false)
				}
			}
			want(t, "equal values look equal", d.text("body") == header, names[0] == names[1])
			seen[d.text("body")], seen[header] = true, true
			got := w.sink.arrived(t, to, 1)[0]
			want(t, "delivered", got.body+got.header.Get("X-Mine"), "secretsecret")
		}
		w.ask(t, "POST", "/v2/publish/"+w.to("ok"), "", "Svc-Redact-Fields: url").fails(t, 400, "")
	}},
}

func hexText(b []byte) string {
	const digits = "0123456789abcdef"
	var out []byte
	for _, c := range b {
		out = append(out, digits[c>>4], digits[c&15])
	}
	return string(out)
}

var errorTexts = []claim{
	{"MP-1.3.1", func(t *testing.T, w *world) {
		for _, c := range []struct {
			status                     int
			method, target, body, text string
		}{
			{400, "POST", "/v2/publish/example.com/x", "", "invalid destination url: endpoint has invalid scheme, add http:// or https://"},
			{400, "POST", "/v2/publish/", "", "a non-empty destination must be provided"},
			{400, "POST", "/v2/publish", "", "a non-empty destination must be provided"},
			{404, "POST", "/v2/publish/nobody", "", "topic nobody not found"},
			{404, "GET", "/v2/messages/msg_none", "", "message msg_none not found"},
			{404, "GET", "/v2/queues/none", "", "queue none not found"},
			{404, "GET", "/v2/schedules/none", "", "schedule none not found"},
			{404, "GET", "/v2/topics/none", "", "topic none not found"},
			{404, "GET", "/v2/dlq/1-1", "", "dlq message 1-1 not found"},
			{404, "GET", "/v2/flowControl/none", "", "flowControl none not found"},
			{405, "PUT", "/v2/keys", "", "method not allowed"},
			{404, "GET", "/v2/nothing", "", "this version has nothing at this path"},
		} {
			w.ask(t, c.method, c.target, c.body).fails(t, c.status, c.text)
		}
	}},
	{"MP-1.3.2", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/v2/publish/"+w.to("ok"), "", "Svc-Deduplication-Id: a:b").fails(t, 400, "DeduplicationId cannot contain ':'")
	}},
	{"MP-1.3.3", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/v2/queues", `{"queueName":"a b"}`).fails(t, 400, "")
		w.ask(t, "POST", "/v2/schedules/"+w.to("ok"), "", "Svc-Cron: * * * * *", "Svc-Schedule-Id: a b").fails(t, 400, "")
		w.ask(t, "POST", "/v2/topics/a%20b/endpoints", `{"endpoints":[{"url":"http://a.example"}]}`).fails(t, 400, "")
		w.ask(t, "POST", "/v2/enqueue/a%20b/"+w.to("ok"), "").fails(t, 400, "")
	}},
}

var delivery = []claim{
	{"MP-7.1.1", func(t *testing.T, w *world) {
		to := w.to("fail1")
		id := w.publish(t, to+"?a=%20&b", "x", "Svc-Retry-Delay: 1")
		got := w.sink.arrived(t, to, 2)
		for i, d := range got {
			h := d.header
			want(t, "agent", h.Get("User-Agent"), "Upstash-QStash")
			want(t, "message", h.Get("Upstash-Message-Id"), id)
			want(t, "retried", h.Get("Upstash-Retried"), string(rune('0'+i)))
			want(t, "caller", h.Get("Upstash-Caller-Ip"), "127.0.0.1")
			want(t, "region", h.Get("Upstash-Region"), "")
			want(t, "target", strings.HasSuffix(d.target, "?a=%20&b"), true)
			want(t, "the other prefix", h.Get("Svc-Message-Id"), id)
		}
		if got[0].header.Get("Upstash-Signature") == got[1].header.Get("Upstash-Signature") {
			t.Error("two attempts have one signature")
		}
	}},
	{"MP-7.1.2", func(t *testing.T, w *world) {
		to := w.to("ok")
		group := w.group(t, to)
		w.ask(t, "POST", "/v2/publish/"+group, "", "Svc-Forward-User-Agent: mine")
		h := w.sink.arrived(t, to, 1)[0].header
		want(t, "group", h.Get("Upstash-Topic-Name"), group)
		want(t, "agent", h.Get("User-Agent"), "mine")
	}},
	{"MP-7.2.1", func(t *testing.T, w *world) {
		for _, status := range []string{"200", "201", "204", "299"} {
			w.eventsOf(t, w.publish(t, w.to(status), "", "Svc-Retries: 0"), "DELIVERED")
		}
		for _, status := range []string{"301", "302", "304", "400", "404", "500"} {
			w.eventsOf(t, w.publish(t, w.to(status), "", "Svc-Retries: 0"), "FAILED")
		}
	}},
	{"MP-7.2.2", func(t *testing.T, w *world) {
		to := w.to("never")
		w.eventsOf(t, w.publish(t, to, "", "Svc-Retries: 3", "Svc-Retry-Delay: 1"), "FAILED")
		want(t, "attempts", w.sink.times(to), 1)
		plain := w.to("plain489")
		w.eventsOf(t, w.publish(t, plain, "", "Svc-Retries: 1", "Svc-Retry-Delay: 1"), "FAILED")
		want(t, "attempts without the header", w.sink.times(plain), 2)
	}},
	{"MP-7.3.1", func(t *testing.T, w *world) {
		to := w.to("after")
		w.eventsOf(t, w.publish(t, to, "", "Svc-Retries: 2", "Svc-Retry-Delay: 3600000"), "FAILED")
		want(t, "attempts", w.sink.times(to), 3)
	}},
	{"MP-8.1", func(t *testing.T, w *world) {
		key := w.ask(t, "GET", "/v2/keys", "").object(t).text("current")
		to := w.to("ok") + "?a=b"
		w.publish(t, to, "body")
		got := w.sink.arrived(t, to, 1)[0]
		parts := strings.Split(got.header.Get("Upstash-Signature"), ".")
		if len(parts) != 3 {
			t.Fatal(parts)
		}
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(parts[0] + "." + parts[1]))
		want(t, "signature", parts[2], base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
		head, claims := jwtPart(t, parts[0]), jwtPart(t, parts[1])
		want(t, "header", head.text("alg")+" "+head.text("typ"), "HS256 JWT")
		want(t, "issuer and subject", claims.text("iss")+" "+claims.text("sub"), "Upstash "+to)
		want(t, "lifetime", claims.number("exp")-claims.number("iat"), 300)
		want(t, "not before", claims.number("nbf"), 0)
		want(t, "audience", claims.has("aud"), false)
		sum := sha256.Sum256([]byte("body"))
		want(t, "body", strings.TrimRight(claims.text("body"), "="), base64.RawURLEncoding.EncodeToString(sum[:]))
		if iat := claims.number("iat"); iat > time.Now().Unix() || !strings.HasPrefix(claims.text("jti"), "jwt_") {
			t.Error(claims)
		}
	}},
	{"MP-8.3", func(t *testing.T, w *world) {
		next := w.ask(t, "GET", "/v2/keys", "").object(t).text("next")
		w.ask(t, "POST", "/v2/keys/rotate", "").object(t)
		to := w.to("ok")
		w.publish(t, to, "")
		parts := strings.Split(w.sink.arrived(t, to, 1)[0].header.Get("Upstash-Signature"), ".")
		mac := hmac.New(sha256.New, []byte(next))
		mac.Write([]byte(parts[0] + "." + parts[1]))
		want(t, "signed with what was next", parts[2], base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
	}},
	{"MP-9.1.1", func(t *testing.T, w *world) {
		id := w.publish(t, w.to("ok"), "x")
		w.eventsOf(t, id, "DELIVERED")
		m := w.message(t, id)
		want(t, "after delivery", m.text("messageId"), id)
		want(t, "notBefore", m.number("notBefore"), m.number("createdAt"))
		want(t, "limits without a key", m.has("period") || m.has("rate") || m.has("parallelism"), false)
		w.ask(t, "DELETE", "/v2/messages/"+id, "").fails(t, 404, "message "+id+" not found")
	}},
	{"MP-9.1.2", func(t *testing.T, w *world) {
		m := w.message(t, w.waits(t, "Svc-Flow-Control-Key: "+w.name(), "Svc-Flow-Control-Value: parallelism=3"))
		want(t, "period", m.number("period"), 1)
		want(t, "rate", m.has("rate"), false)
	}},
	{"MP-9.3.1", func(t *testing.T, w *world) {
		label := w.name()
		l := "Svc-Label: " + label
		a, b := w.waits(t, l), w.waits(t, l, "Svc-Queue-Name: "+label+"q")
		c := w.publish(t, w.sink.url+"/ok/"+label+"?x=1", "", l, "Svc-Delay: 1h")
		done := w.publish(t, w.to("ok"), "", l)
		w.eventsOf(t, done, "DELIVERED")
		cancel := func(query, body string, n string) {
			t.Helper()
			w.ask(t, "DELETE", "/v2/messages"+query, body).is(t, 202, `{"cancelled":`+n+`}`)
		}
		cancel("?label="+label+"&queueName=other", "", "0")
		cancel("?path=/ok/"+label+"&path=/none&label="+label, "", "1")
		cancel("", `{"queueName":"`+label+`q","label":["`+label+`","x"]}`, "1")
		cancel("?messageIds="+a+","+b+"&messageIds="+c, "", "1")
		cancel("?label="+label, "", "0")
		w.ask(t, "DELETE", "/v2/messages?lable="+label, "").fails(t, 400, "")
		w.ask(t, "DELETE", "/v2/messages", `{"lable":"x"}`).fails(t, 400, "")
	}},
	{"MP-11.2.1", func(t *testing.T, w *world) {
		for _, bad := range []string{"host=x", "path=/x", "nonsense=1", "count=0", "cursor=x", "order=x", "responseStatus=x", "fromDate=x"} {
			w.ask(t, "GET", "/v2/dlq?"+bad, "").fails(t, 400, "")
			if bad != "order=x" {
				w.ask(t, "POST", "/v2/dlq/retry?"+bad, "").fails(t, 400, "")
			}
			w.ask(t, "DELETE", "/v2/dlq?"+bad, "").fails(t, 400, "")
		}
		w.ask(t, "GET", "/v2/dlq?messageId=msg_none", "").is(t, 200, `{"messages":[]}`)
	}},
	{"MP-11.3.1", func(t *testing.T, w *world) {
		label := w.name()
		a := w.deadLetter(t, w.to("500"), "", "Svc-Label: "+label)
		w.deadLetter(t, w.to("418"), "", "Svc-Label: "+label)
		w.ask(t, "DELETE", "/v2/dlq", `{"dlqIds":["`+a.text("dlqId")+`","1-1"]}`).is(t, 200, `{"deleted":1}`)
		w.ask(t, "DELETE", "/v2/dlq?responseStatus=418&label="+label, "").is(t, 200, `{"deleted":1}`)
		w.ask(t, "DELETE", "/v2/dlq?label="+label, "").is(t, 200, `{"deleted":0}`)
	}},
	{"MP-11.4.1", func(t *testing.T, w *world) {
		to := w.to("fail1")
		d := w.deadLetter(t, to, "x", "Svc-Forward-A: b", "Svc-Redact-Fields: body")
		again := w.ask(t, "POST", "/v2/dlq/retry/"+d.text("dlqId"), "", "Svc-Retries: 7")
		want(t, "status", again.status, 201)
		id := again.object(t).text("messageId")
		if id == d.text("messageId") {
			t.Error("the retry has the old id")
		}
		got := w.sink.arrived(t, to, 2)[1]
		want(t, "the same", got.body+got.header.Get("A"), "xb")
		want(t, "retries", w.message(t, id).number("maxRetries"), 7)
		w.ask(t, "POST", "/v2/dlq/retry/"+d.text("dlqId"), "").fails(t, 404, "")
	}},
	{"MP-11.4.2", func(t *testing.T, w *world) {
		label := w.name()
		a := w.deadLetter(t, w.to("fail1"), "", "Svc-Label: "+label)
		w.deadLetter(t, w.to("fail1"), "", "Svc-Label: "+label)
		v := w.ask(t, "POST", "/v2/dlq/retry?dlqIds="+a.text("dlqId"), "")
		want(t, "status", v.status, 201)
		want(t, "by id", len(v.object(t).list("responses")), 1)
		v = w.ask(t, "POST", "/v2/dlq/retry", `{"label":"`+label+`"}`)
		want(t, "by filter", len(v.object(t).list("responses")), 1)
		w.ask(t, "POST", "/v2/dlq/retry?label="+label, "").is(t, 201, `{"responses":[]}`)
	}},
}

func jwtPart(t testing.TB, part string) (v record) {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil || json.Unmarshal(b, &v) != nil {
		t.Fatal(part, err)
	}
	return v
}

var resources = []claim{
	{"MP-12.1", func(t *testing.T, w *world) {
		name, a, b := w.name(), w.to("ok"), w.to("ok")
		endpoints := "/v2/topics/" + name + "/endpoints"
		w.ask(t, "POST", endpoints, `{"endpoints":[{"url":"`+a+`","name":"the first"},{"url":"`+b+`"}]}`).is(t, 200, "")
		w.ask(t, "POST", endpoints, `{"endpoints":[{"url":"`+b+`/x","name":"the first"}]}`).is(t, 200, "")
		want(t, "endpoints", text(w.ask(t, "GET", "/v2/topics/"+name, "").object(t)["endpoints"]), `[{"name":"the first","url":"`+b+`/x"},{"url":"`+b+`"}]`)
		w.ask(t, "DELETE", endpoints, `{"endpoints":[{"name":"the first"}]}`).is(t, 200, "")
		w.ask(t, "DELETE", endpoints, `{"endpoints":[{"url":"`+b+`"}]}`).is(t, 200, "")
		w.ask(t, "GET", "/v2/topics/"+name, "").fails(t, 404, "")
		w.ask(t, "DELETE", endpoints, `{"endpoints":[{"url":"x"}]}`).fails(t, 404, "topic "+name+" not found")
		w.ask(t, "DELETE", "/v2/topics/"+name, "").is(t, 200, "")
	}},
	{"MP-12.2", func(t *testing.T, w *world) {
		name := w.group(t, w.to("ok"))
		w.ask(t, "PATCH", "/v2/topics/"+name, `{"headers":{"Upstash-Retries":"7","Upstash-Delay":["1h"]}}`).is(t, 200, "")
		publish := func(header ...string) record {
			return w.message(t, w.ask(t, "POST", "/v2/publish/"+name, "", header...).list(t)[0].text("messageId"))
		}
		m := publish()
		want(t, "defaults", m.number("maxRetries"), 7)
		want(t, "delay", m.number("notBefore")-m.number("createdAt"), 3_600_000)
		want(t, "the request wins", publish("Svc-Retries: 1").number("maxRetries"), 1)
	}},
	{"MP-13.1", func(t *testing.T, w *world) {
		name := w.name()
		w.ask(t, "POST", "/v2/queues", `{"queueName":"`+name+`","parallelism":2,"paused":true}`).is(t, 200, "")
		to := w.to("ok")
		w.ask(t, "POST", "/v2/enqueue/"+name+"/"+to, "").object(t)
		q := w.ask(t, "GET", "/v2/queues/"+name, "").object(t)
		want(t, "lag", q.number("lag"), 1)
		want(t, "parallelism", q.number("parallelism"), 2)
		want(t, "paused", text(q["paused"]), "true")
		w.ask(t, "POST", "/v2/queues/"+name+"/resume", "").is(t, 200, "")
		w.ask(t, "POST", "/v2/queues/"+name+"/resume", "").is(t, 200, "")
		w.sink.arrived(t, to, 1)
		w.until(t, "/v2/queues/"+name, func(v record) bool { return v.number("lag") == 0 })
		w.ask(t, "POST", "/v2/queues/none/pause", "").fails(t, 404, "queue none not found")
		w.ask(t, "POST", "/v2/queues", `{"queueName":"`+name+`","parallelism":0}`).fails(t, 400, "")
		w.ask(t, "DELETE", "/v2/queues/"+name, "").is(t, 200, "")
		w.ask(t, "DELETE", "/v2/queues/"+name, "").is(t, 200, "")
	}},
	{"MP-13.2", func(t *testing.T, w *world) {
		name, told := w.name(), w.to("fail2")
		w.ask(t, "POST", "/v2/enqueue/"+name+"/"+w.to("fail1"), "", "Svc-Retry-Delay: 1", "Svc-Callback: "+told, "Svc-Callback-Retry-Delay: 1").object(t)
		second := w.ask(t, "POST", "/v2/enqueue/"+name+"/"+w.to("ok"), "").object(t).text("messageId")
		list := w.eventsOf(t, second, "DELIVERED")
		calls := w.sink.arrived(t, told, 4) // of two attempts, and two refusals
		if first := list[1].number("time"); first < calls[3].at.UnixMilli()-100 {
			t.Errorf("the second one was sent at %d, before the callbacks of the first were done at %d", first, calls[3].at.UnixMilli())
		}
	}},
	{"MP-14.1", func(t *testing.T, w *world) {
		id, to := w.name(), w.to("ok")
		put := func(body string, header ...string) {
			w.ask(t, "POST", "/v2/schedules/"+to, body, append(header, "Svc-Schedule-Id: "+id)...).is(t, 200, `{"scheduleId":"`+id+`"}`)
		}
		put("x", "Svc-Cron: CRON_TZ=Europe/Berlin 0 9 * * 1 ", "Svc-Delay: 1m", "Content-Type: text/a", "Svc-Retries: 1")
		s := w.ask(t, "GET", "/v2/schedules/"+id, "").object(t)
		want(t, "cron", s.text("cron"), "CRON_TZ=Europe/Berlin 0 9 * * 1")
		want(t, "delay", s.number("delay"), 60)
		want(t, "header", text(s["header"]), `{"Content-Type":["text/a"]}`)
		want(t, "preview", len(s["nextScheduleTimes"].([]any)), 5)
		preview := w.ask(t, "GET", "/v2/cron?expression="+url.QueryEscape("CRON_TZ=Europe/Berlin 0 9 * * 1"), "").object(t)
		want(t, "times of an expression", text(preview["times"]), text(s["nextScheduleTimes"]))
		want(t, "zone of an expression", preview.text("timeZone"), "Europe/Berlin")
		w.ask(t, "GET", "/v2/cron?expression=0+9+*", "").fails(t, 400, "")
		put("", "Svc-Cron: */10 * * * *")
		s = w.ask(t, "GET", "/v2/schedules/"+id, "").object(t)
		want(t, "what is left", s.has("body") || s.has("delay") || s.has("header"), false)
		for _, method := range []string{"PATCH", "POST"} {
			w.ask(t, method, "/v2/schedules/"+id+"/pause", "").is(t, 200, "")
			want(t, "paused", text(w.ask(t, "GET", "/v2/schedules/"+id, "").object(t)["isPaused"]), "true")
			w.ask(t, method, "/v2/schedules/"+id+"/resume", "").is(t, 200, "")
		}
		w.ask(t, "DELETE", "/v2/schedules/"+id, "").is(t, 200, "")
		w.ask(t, "DELETE", "/v2/schedules/"+id, "").fails(t, 404, "schedule "+id+" not found")
		for _, bad := range []string{"", "* * * *", "61 * * * *", "CRON_TZ=Nowhere/X * * * * *"} {
			w.ask(t, "POST", "/v2/schedules/"+to, "", "Svc-Cron: "+bad).fails(t, 400, "")
		}
		w.ask(t, "POST", "/v2/publish/"+to, "", "Svc-Cron: 0 0 1 1 *", "Svc-Schedule-Id: "+id).is(t, 200, `{"scheduleId":"`+id+`"}`)
		w.ask(t, "DELETE", "/v2/schedules/"+id, "").is(t, 200, "")
	}},
	{"MP-15.1", func(t *testing.T, w *world) {
		for _, bad := range []string{"", "parallelism", "rate=0", "speed=3", "period=5s", "rate=1, period=8d"} {
			w.ask(t, "POST", "/v2/publish/"+w.to("ok"), "", "Svc-Flow-Control-Key: k", "Svc-Flow-Control-Value: "+bad).fails(t, 400, "")
		}
		w.ask(t, "POST", "/v2/publish/"+w.to("ok"), "", "Svc-Flow-Control-Value: rate=1").fails(t, 400, "")
	}},
	{"MP-15.2", func(t *testing.T, w *world) {
		key := w.name()
		path := "/v2/flowControl/" + key
		w.ask(t, "POST", path+"/pause", "").object(t)
		to := w.to("ok")
		w.publish(t, to, "", "Svc-Flow-Control-Key: "+key, "Svc-Flow-Control-Value: rate=5,period=1m")
		f := w.until(t, path, func(v record) bool { return v.number("waitListSize") == 1 })
		want(t, "rate", f.number("rateMax"), 5)
		want(t, "period", f.number("ratePeriod"), 60)
		f = w.ask(t, "POST", path+"/pin?parallelism=2&rate=9&period=30", "").object(t)
		want(t, "pinned", text([]any{f["isPinnedParallelism"], f["isPinnedRate"], f["parallelismMax"], f["rateMax"]}), "[true,true,2,9]")
		w.ask(t, "POST", path+"/resume", "").object(t)
		w.sink.arrived(t, to, 1)
		w.until(t, path, func(v record) bool { return v.number("rateCount") == 1 })
		want(t, "after a reset", w.ask(t, "POST", path+"/resetRate", "").object(t).number("rateCount"), 0)
		f = w.ask(t, "POST", path+"/unpin?parallelism=true", "").object(t)
		want(t, "unpinned", text([]any{f["isPinnedParallelism"], f["isPinnedRate"]}), "[false,true]")
		want(t, "found", len(w.ask(t, "GET", "/v2/flowControl?search="+key, "").list(t)), 1)
		w.ask(t, "POST", "/v2/flowControl//pause", "").fails(t, 400, "")
	}},
	{"MP-18.1", func(t *testing.T, w *world) {
		id := w.ask(t, "POST", "/v2/schedules/"+w.to("ok"), "", "Svc-Cron: 0 0 1 1 *").object(t).text("scheduleId")
		want(t, "prefix", id[:4], "scd_")
		w.ask(t, "DELETE", "/v2/schedules/"+id, "").is(t, 200, "")
		if got := w.deadLetter(t, w.to("500"), "").text("dlqId"); http.CanonicalHeaderKey(got) != got || strings.Count(got, "-") != 1 {
			t.Error(got)
		}
	}},
}
