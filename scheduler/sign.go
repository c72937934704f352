package scheduler

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"
)

// signatureLife is the time in which receivers may accept a signature.
const signatureLife = 5 * time.Minute

// jwtHeader is the first part of every token: {"alg":"HS256","typ":"JWT"}.
var jwtHeader = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`))

// assertion holds the claims of a signature. There is no audience: one verifier
// refuses tokens that have one. NotBefore stays 0, for the clocks of receivers differ.
type assertion struct {
	Issuer    string `json:"iss"`
	Subject   string `json:"sub"`
	IssuedAt  int64  `json:"iat"`
	NotBefore int64  `json:"nbf"`
	Expires   int64  `json:"exp"`
	ID        string `json:"jti"`
	Body      string `json:"body"`
}

// sign is the token that goes with one attempt: a JSON web token by HMAC-SHA256 under
// the bytes of the whole key as it is written, its prefix included. The subject is the
// destination, verbatim. The body's claim is the padded base64url form of its SHA-256,
// also of an empty one.
func sign(key, issuer, subject string, body []byte, now time.Time) string {
	sum := sha256.Sum256(body)
	c := (&assertion{
		Issuer: issuer, Subject: subject, IssuedAt: now.Unix(), Expires: now.Add(signatureLife).Unix(),
		ID: "jwt_" + rand.Text(), Body: base64.URLEncoding.EncodeToString(sum[:]),
	}).appendJSON(make([]byte, 0, 256+len(issuer)+len(subject)))
	encode := base64.RawURLEncoding
	token := make([]byte, 0, len(jwtHeader)+2+encode.EncodedLen(len(c))+encode.EncodedLen(sha256.Size))
	token = encode.AppendEncode(append(append(token, jwtHeader...), '.'), c)
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(token)
	return string(encode.AppendEncode(append(token, '.'), mac.Sum(sum[:0])))
}

// appendJSON writes what json.Marshal writes, for less.
func (a *assertion) appendJSON(b []byte) []byte {
	b = appendText(append(b, `{"iss":`...), a.Issuer)
	b = appendText(append(b, `,"sub":`...), a.Subject)
	b = strconv.AppendInt(append(b, `,"iat":`...), a.IssuedAt, 10)
	b = strconv.AppendInt(append(b, `,"nbf":`...), a.NotBefore, 10)
	b = strconv.AppendInt(append(b, `,"exp":`...), a.Expires, 10)
	b = appendText(append(b, `,"jti":`...), a.ID)
	b = appendText(append(b, `,"body":`...), a.Body)
	return append(b, '}')
}

// appendText writes a JSON string.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil {
				panic(err) // a string always has a form
			}
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
