package command

import (
	"github.com/trireme-dev/trireme/fsm/acl"
)

// HashSecrets returns argv with every secret replaced by its digest, so that none enters the
// log. It returns argv itself if there is none. The number of words stays the same.
func HashSecrets(argv [][]byte) [][]byte {
	return replaceSecrets(argv, sealed)
}

// Redacted stands for a secret where people look.
const Redacted = "(redacted)"

// Redact is argv with every secret hidden, for MONITOR and slow logs.
func Redact(argv [][]byte) [][]byte {
	return replaceSecrets(argv, func([]byte, secret) []byte { return []byte(Redacted) })
}

// secret is a word to be hidden, and how it is written.
type secret uint8

const (
	password    secret = iota // the word is the password
	passwordSet               // ">password" or "<password"
	newPassword               // a password that a user chose, which must not be weak
)

// weakPassword stands for a chosen password that is too easily guessed.
const weakPassword = "weak"

func sealed(word []byte, kind secret) []byte {
	switch {
	case kind == passwordSet && word[0] == '>':
		return []byte("#" + acl.DigestOf(string(word[1:])).Hex())
	case kind == passwordSet:
		return []byte("!" + acl.DigestOf(string(word[1:])).Hex())
	case kind == newPassword && weak(word):
		return []byte(weakPassword)
	}
	return []byte("#" + acl.DigestOf(string(word)).Hex())
}

// strongLength and strongVariety are the least length and the least number of different
// characters of a chosen password: it becomes a token, which anybody may try.
const (
	strongLength  = 16
	strongVariety = 6
)

func weak(password []byte) bool {
	var seen [256]bool
	different := 0
	for _, c := range password {
		if !seen[c] {
			seen[c] = true
			different++
		}
	}
	return len(password) < strongLength || different < strongVariety
}

// replaceSecrets is argv with its secrets replaced, in a slice of its own.
func replaceSecrets(argv [][]byte, by func([]byte, secret) []byte) [][]byte {
	if len(argv) < 2 {
		return argv
	}
	out := argv
	eachSecret(argv, func(i int, kind secret) {
		if i >= len(argv) {
			return
		}
		if &out[0] == &argv[0] {
			out = append([][]byte(nil), argv...)
		}
		out[i] = by(argv[i], kind)
	})
	return out
}

// eachSecret finds the words of a command that are secret. It errs on the safe side:
// words that follow where a password may stand count, also in a malformed command.
func eachSecret(argv [][]byte, found func(i int, kind secret)) {
	switch len(argv[0]) {
	case 3:
		if EqualFold(argv[0], "ACL") {
			aclSecrets(argv, found)
		}
	case 4:
		if EqualFold(argv[0], "AUTH") {
			for i := max(1, min(2, len(argv)-1)); i < len(argv); i++ {
				found(i, password)
			}
		}
	case 5:
		if EqualFold(argv[0], "HELLO") {
			afterWord(argv, "AUTH", 2, found)
		}
	case 6:
		if EqualFold(argv[0], "CONFIG") && EqualFold(argv[1], "SET") {
			configSecrets(argv, found)
		}
	case 7:
		if EqualFold(argv[0], "MIGRATE") {
			afterWord(argv, "AUTH", 1, found)
			afterWord(argv, "AUTH2", 2, found)
		}
	}
}

func aclSecrets(argv [][]byte, found func(i int, kind secret)) {
	switch {
	case EqualFold(argv[1], "SETUSER"):
		for i := 3; i < len(argv); i++ {
			if len(argv[i]) > 0 && (argv[i][0] == '>' || argv[i][0] == '<') {
				found(i, passwordSet)
			}
		}
	case EqualFold(argv[1], "RESTTOKEN"):
		for i := 3; i < len(argv); i++ {
			found(i, password)
		}
	case EqualFold(argv[1], "GENTOKEN"):
		for i := 3; i < len(argv); i++ {
			found(i, newPassword)
		}
	}
}

// afterWord finds what stands n words behind a word.
func afterWord(argv [][]byte, word string, n int, found func(i int, kind secret)) {
	for i := 1; i < len(argv); i++ {
		if EqualFold(argv[i], word) {
			found(i+n, password)
		}
	}
}

func configSecrets(argv [][]byte, found func(i int, kind secret)) {
	for i := 2; i+1 < len(argv); i += 2 {
		for _, name := range []string{"REQUIREPASS", "MASTERAUTH", "TLS-KEY-FILE-PASS"} {
			if EqualFold(argv[i], name) {
				found(i+1, password)
			}
		}
	}
}

// sealedDigest is the digest that Seal left in place of a password.
func sealedDigest(word string) (acl.Digest, bool) {
	if len(word) == 0 || word[0] != '#' {
		return acl.Digest{}, false
	}
	return acl.ParseDigest(word[1:])
}
