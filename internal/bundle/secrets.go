package bundle

import (
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// secret is a kind of text that is removed: the match of its pattern; or, if the pattern has groups, the first group that
// took part in the match; or, if announces is set, the value that follows the match.
type secret struct {
	what string
	// hints are separated by spaces. Because patterns are slow, they are applied only to lines near a hint, in any case; a
	// text without hints has no match.
	hints     string
	pattern   *lazyregexp.Regexp
	announces bool
	// wraps is set if the form is distinctive enough to be found across the end of a line.
	wraps bool
}

// span is a part of a text that is removed.
type span struct {
	from, to int
	what     string
	// aliased is set for a match of the user's pattern.
	aliased bool
}

// Parts of patterns.
const (
	// keyWords are words that make "key" a secret; other keys sort, partition or select.
	keyWords = `api|app|access|account|auth|client|consumer|cookie|deploy|encryption|fernet|hmac|jwt|licen[cs]e|master|private|secret|service|session|shared|shared[-_.]?access|signing|ssh|storage|subscription|webhook`
	// accounts are words that make "pass" a password: "bypass" is not one.
	accounts = `admin|bind|db|ftp|http|ldap|login|mail|my|mysql|pg|postgres|proxy|redis|require|root|smtp|sql|ssh|user`
	// named matches the end of the name of a secret, in any case: db.password, API_KEY, clientSecret, X-Auth-Token,
	// DB_PASS_1.
	named = `(?:passw(?:or)?d|passphrase|passcode|secret|token|jwt|credentials?|(?:` + keyWords + `)[-_.]?key|(?:\b|_|\d|` + accounts + `)(?:pass|pwd|pw)|(?-i:[a-z]P(?:ass|wd)))(?:[-_]?(?:\d{1,2}|base|b64|base64|hash|hashed|plain|value))?`
	// colors matches the escape sequences for colors between a name and its value.
	colors = `(?:\x1b\[[\d;]*m)*`
	// is matches the separator between a name and its value.
	is = `\\*["'\x60]?[\])]?` + colors + `[ \t]*(?:=>|:=|==?|:)[ \t]*` + colors
)

// formats are known formats of credentials.
var formats = []struct {
	what, hints string
	patterns    []string
}{
	{"AWS access key", "akia asia abia acca", []string{`\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b`}},
	{"GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", []string{`\bgh[pousr]_[A-Za-z0-9]{30,}`, `\bgithub_pat_\w{22,}`}},
	{"GitLab token", "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- gr1348941", []string{`\bgl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w.-]{20,}`, `\bGR1348941[\w-]{20,}`}},
	{"Slack token", "xox xapp-", []string{`\bxox[abceoprs]-[\w-]{10,}`, `\bxapp-\d-[\w-]{10,}`}},
	{"Google key", "aiza ya29. gocspx- 1//0", []string{`\bAIza[\w-]{35}`, `\bya29\.[\w-]{20,}`, `\bGOCSPX-[\w-]{28}`, `\b1//0[\w-]{30,}`}},
	{"Stripe key", "k_live_ k_test_ whsec_", []string{`\b[rsp]k_(?:live|test)_\w{20,}`, `\bwhsec_[\w+/=]{20,}`}},
	{"Vault token", "hvs. hvb. hvr.", []string{`\bhv[bsr]\.[\w-]{20,}`}},
	{"API token", "hf_ npm_ pypi- rubygems_ dckr_", []string{`\bhf_[A-Za-z0-9]{30,}`, `\bnpm_[A-Za-z0-9]{36}`, `\bpypi-[\w-]{50,}`, `\brubygems_[0-9a-f]{48}`, `\bdckr_[op]at_[\w-]{20,}`}},
	{"API token", "sk- gsk_ pplx- r8_", []string{`\bsk-[A-Za-z0-9]{20,}`, `\bsk-(?:proj|ant|svcacct|admin|or|lf)-[\w-]{20,}`, `\bgsk_[A-Za-z0-9]{40,}`, `\bpplx-[A-Za-z0-9]{40,}`, `\br8_[A-Za-z0-9]{37}`}},
	{"API token", "sg. key- :aa _v1_ dapi shp sq0 .atlasv1. 7q~ 8q~", []string{`\bSG\.[\w-]{16,}\.[\w-]{16,}`, `\bkey-[0-9a-f]{32}\b`, `\b\d{8,10}:AA[\w-]{33}`, `\bdo[opr]_v1_[0-9a-f]{64}`, `\bdapi[0-9a-f]{32}`, `\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}`, `\bsq0(?:atp|csp)-[\w-]{22,}`, `\w{14}\.atlasv1\.[\w-]{60,}`, `\b\w{3}[78]Q~[\w~.-]{34}`}},
	{"API token", "glsa_ glc_ lin_api_ atatt3 atbb nrak- sntry dp. age-secret-key-1 sbp_ ntn_ figd_ hrku-", []string{`\bgl(?:sa|c)_[\w+/=]{32,}`, `\blin_api_\w{40}`, `\bATATT3[\w=-]{50,}`, `\bATBB[A-Za-z0-9]{32}`, `\bNRAK-[A-Z0-9]{27}`, `\bsntry[su]_[\w+/=]{40,}`, `\bdp\.(?:pt|st|ct|sa)\.[\w.]{40,}`, `\bAGE-SECRET-KEY-1[A-Z0-9]{58}`, `\bsbp_[0-9a-f]{40}`, `\bntn_[A-Za-z0-9]{40,}`, `\bfigd_[\w-]{40}`, `\bHRKU-[\w-]{36,}`}},
	{"JSON web token", "eyj", []string{`\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+){0,3}`}},
	{"password hash", "$2 $5$ $6$ $y$ $apr1$ $argon2", []string{`\$(?:2[abxy]|5|6|y|apr1|argon2\w*)\$[\w./$=,+-]{20,}`}},
	{"key or certificate in base64", "ls0tls1crudjti", []string{`\bLS0tLS1CRUdJTi[A-Za-z0-9+/]{8,}=*`}},
}

// secrets lists all kinds of secrets, the more specific ones first.
var secrets = slices.Concat([]secret{
	{what: "private key", pattern: lazyregexp.New(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)`)},
	{what: "private key", pattern: lazyregexp.New(`(?s)^(?:[^-]|-[^-])*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)}, // the log starts within the key
}, formatSecrets(), []secret{
	{what: "Slack webhook", hints: "hooks.slack.com", pattern: lazyregexp.New(`\bhooks\.slack\.com/(?:services|workflows)/([\w/-]{20,})`)},
	{what: "password in a URL", hints: "://", pattern: lazyregexp.New(`(?i)\b[a-z][a-z0-9+.-]*://(?:[^\s:/@"'<>]*:([^\s"'<>]+)|([^\s:/@"'<>]{20,}))@`)},
	{what: "password in a URL", hints: "jdbc:oracle: @tcp( @unix(", pattern: lazyregexp.New(`(?i)\bjdbc:oracle:\w+:[^\s/@"']+/([^\s"']+)@|\b[\w.-]+:([^\s"'@]+)@(?:tcp|unix)\(`)},
	{what: "signature in a URL", hints: "sig", pattern: lazyregexp.New(`(?i)[?&;](?:sig|signature|x-amz-signature|x-goog-signature)=([^\s&"']{8,})`)},
	{what: "authorization header", hints: "authorization", pattern: lazyregexp.New(`(?i)\bauthorization` + is + `\[?\\*["']?(?:[a-z][\w-]*[ \t]+)?([\w-]+=(?:"[^"\n]*"|[^\s",]+)(?:,[ \t]*[\w-]+=(?:"[^"\n]*"|[^\s",]+))+|[^\s"',;\\\]]{4,})`)},
	{what: "bearer token", hints: "bearer", pattern: lazyregexp.New(`(?i)\bbearer\s+([\w.~+/-]{8,}=*)`)},
	{what: "cookie", hints: "cookie", pattern: lazyregexp.New(`(?i)\bcookie` + is + `\[?\\*["']?([\w.-]+=[^\r\n"'\\\]]+)`)},
	{what: "named secret", hints: nameHints, pattern: lazyregexp.New(`(?i)` + named + is), announces: true},
	{what: "named secret", hints: "value", pattern: lazyregexp.New(`(?i)` + named + `\\*["']?[ \t]*,?\s*\\*["']?\bvalue` + is), announces: true},
	{what: "named secret", hints: nameHints, pattern: lazyregexp.New(`(?i)(?:^|[\s"'\[,(=])--?[\w.-]*` + named + `(?:\\*["'][ \t]*,[ \t]*|[ \t]+)`), announces: true},
	{what: "named secret", hints: "</", pattern: lazyregexp.New(`(?i)<[\w:.-]*` + named + `>\s*([^<\s][^<]*)</`)},
	{what: "named secret", hints: "identified passw", pattern: lazyregexp.New(`(?i)\b(?:identified by|passw(?:or)?d)[ \t]+(?:'((?:[^'\n]|'')+)'|"([^"\n]+)")`)},
	{what: "named secret", hints: "password passphrase", pattern: lazyregexp.New(`(?i)\b(?:temporary password[^:\n]{0,80}:|(?:password|passphrase) is:?)[ \t]+["']?([^\s"']*[\d\W_][^\s"']*)`)},
	{what: "named secret", hints: "password requirepass masterauth", pattern: lazyregexp.New(`(?im)\blogin[ \t]+\S+[ \t]+password[ \t]+(\S+)|^[ \t]*(?:requirepass|masterauth)[ \t]+(\S+)`)},
	{what: "named secret", hints: "auth", pattern: lazyregexp.New(`(?i)(?:\b|")_?auth` + is + `\\*["']?([\w+/-]{16,}=*)`)},
	{what: "password of a command", hints: "curl sshpass mysql mariadb redis-cli docker", pattern: lazyregexp.New(`\bcurl\b[^\n|;]*?[ \t](?:-u|--user|-U|--proxy-user)[ \t=]*["']?[^\s:"']+:([^\s"']+)|\bsshpass[ \t]+-p[ \t]*(\S+)|\b(?:mysql\w*|mariadb)[ \t][^\n|;]*?-p([^\s-]\S*)|\bredis-cli\b[^\n|;]*?[ \t]-a[ \t]+(\S+)|\bdocker[ \t]+login\b[^\n|;]*?[ \t]-p[ \t]+(\S+)`)},
})

// nameHints are the hints for named secrets.
const nameHints = "pass pw secret token jwt credential key"

func formatSecrets() (all []secret) {
	for _, f := range formats {
		all = append(all, secret{what: f.what, hints: f.hints, pattern: lazyregexp.New(strings.Join(f.patterns, "|")), wraps: true})
	}
	return all
}

// namedSecret matches the name of a field, or the flag before an argument, whose value is a secret.
var namedSecret = lazyregexp.New(`(?i)` + named + `$`)

// find returns the positions of the secret in a text; lower is the text in lower case.
func (s *secret) find(text, lower string) (found []span) {
	for _, window := range s.windows(text, lower) {
		for _, m := range s.pattern.FindAllStringSubmatchIndex(text[window.from:window.to], -1) {
			begin, from, to := window.from+m[0], window.from+m[0], window.from+m[1]
			for g := 2; g < len(m); g += 2 {
				if m[g] >= 0 {
					from, to = window.from+m[g], window.from+m[g+1]
					break
				}
			}
			if s.announces {
				from, to = announced(text, begin, to)
			}
			if from < to && !isHarmless(text[begin:from], text[from:to], text[to:]) {
				found = append(found, span{from, to, s.what, false})
			}
		}
	}
	return found
}

// windows returns the parts of a text that may contain the secret: each line with a hint, and the lines before and after it.
func (s *secret) windows(text, lower string) (windows []span) {
	switch {
	case s.hints == "", len(lower) != len(text): // Few letters change their length in lower case.
		return []span{{from: 0, to: len(text)}}
	case !s.hinted(lower):
		return nil
	}
	for previous, begin := 0, 0; begin < len(text); {
		end := endOfLine(text, begin)
		if s.hinted(lower[begin:end]) {
			window := span{from: previous, to: endOfLine(text, end)}
			if last := len(windows) - 1; last >= 0 && window.from < windows[last].to {
				windows[last].to = window.to
			} else {
				windows = append(windows, window)
			}
		}
		previous, begin = begin, end
	}
	return windows
}

func (s *secret) hinted(lower string) bool {
	for hint := range strings.FieldsSeq(s.hints) {
		if strings.Contains(lower, hint) {
			return true
		}
	}
	return false
}

func endOfLine(text string, begin int) int {
	if i := strings.IndexByte(text[begin:], '\n'); i >= 0 {
		return begin + i + 1
	}
	return len(text)
}

// opening matches the start of a quoted value in any of several languages, with the backslashes that escape its quote.
var opening = lazyregexp.New("^(?:Some\\(|[bru])?(\\\\*)([\"'`])")

// announced returns the position of the value at from; its name starts at the offset name. A quoted value ends at its closing
// quote. Any other value ends at a space, or before "&name=", and before the quotes and brackets around it.
func announced(text string, name, from int) (start, end int) {
	line, _, _ := strings.Cut(text[from:], "\n")
	if m := opening.FindStringSubmatchIndex(line); m != nil {
		return from + m[1], from + m[1] + quoted(line[m[1]:], line[m[4]], m[3]-m[2])
	}
	if m := unquotedEnd.FindStringIndex(line); m != nil {
		line = line[:m[0]]
	}
	begin := strings.LastIndexByte(text[:name], '\n') + 1
	if m := closing.FindStringSubmatchIndex(line); m != nil && isInString(text[begin:name]) {
		line = line[:max(m[2], m[4])]
	}
	before := text[begin:from]
	for line != "" {
		last := line[len(line)-1]
		i := strings.IndexByte(")}]>", last)
		if i < 0 && strings.IndexByte("\"'`\\,;", last) < 0 || i >= 0 && strings.IndexByte(before, "({[<"[i]) < 0 {
			break
		}
		line = line[:len(line)-1]
	}
	return from, from + len(line)
}

var (
	// unquotedEnd matches the end of a value without quotes: a space, the next parameter of a query, or the next tag.
	unquotedEnd = lazyregexp.New(`[ \t\r]|&(?:amp;)?[\w.%\[\]-]+=|</[A-Za-z]`)
	// closing matches the quote that ends the string around a value, or a string within that.
	closing = lazyregexp.New(`(?:^|[^\\])(")|(\\+")(?:[\]},:]|$)`)
)

// quoted returns the length of a value up to its closing quote, which is escaped with as many backslashes as the opening one.
// Without a closing quote, the value extends to the end of the line.
func quoted(line string, quote byte, backslashes int) int {
	slashes := 0
	for i := 0; i < len(line); i++ {
		switch {
		case quote == '\'' && i > 0 && strings.HasPrefix(line[i:], "''"):
			i++ // as in SQL and YAML
			continue
		case line[i] == '\\':
			slashes++
			continue
		case line[i] == quote && (slashes < backslashes || (slashes-backslashes)/(backslashes+1)%2 == 0):
			return i - min(slashes, backslashes)
		}
		slashes = 0
	}
	return len(line)
}

// isInString reports whether the end of a line is within double quotes.
func isInString(line string) bool {
	inside := false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			inside = !inside
		}
	}
	return inside
}

var (
	// placeholder matches values that stand for a secret, or for none.
	placeholder = lazyregexp.New(`(?i)^(?:true|false|yes|no|on|off|null|nil|none|undefined|empty|unset|not[- ]?set|<[^>]*>?|\[removed.*|\[?\(?(?:redacted|removed|masked|filtered|hidden)\)?\]?|[*•]+|x{3,}|\$\{[^}]*\}?|\$\(.*|\{\{.*|\.{3}|[|<>&\\]+)$`)
	// prose matches words that follow names of secrets in sentences.
	prose = lazyregexp.New(`(?i)^(?:a|an|and|are|at|authentication|authorization|auth|bad|by|cannot|can't|changed|connection|context|denied|disabled|does|doesn't|enabled|error|expired|expires|failed|field|file|flag|for|found|from|get|granted|has|have|if|in|incorrect|invalid|is|it|length|list|mismatch|missing|must|not|of|ok|option|or|policy|provided|refused|rejected|required|reset|secrets|should|string|the|to|too|unauthorized|unexpected|was|watch|when|which|will|with|wrong)[.,:;!]?$`)
	// number matches a count, a fraction or a percentage.
	number = lazyregexp.New(`^\d{1,7}(?:[./]\d+)*%?[,.;]?$`)
	// port matches the text that a URL without a password may have between a colon and an @: the port and "/" before the
	// scope of a package, or a query or a fragment. A port with a path may be a password: amqp://user:42/x@host.
	port = lazyregexp.New(`^\d{1,5}(?:/|(?:/[^?#]*)?[?#].*)$`)
	// imagePort matches the port and name of an image, before its digest.
	imagePort = lazyregexp.New(`^\d{1,5}/\S+$`)
	// keyFile matches the name of a file with a secret, rather than the secret.
	keyFile = lazyregexp.New(`^(?:/(?:dev|etc|home|mnt|opt|root|run|secrets?|srv|tmp|usr|var)/[\w./@-]+|[~.]{0,2}/?[\w./@-]+\.(?:conf|crt|env|ini|jks|json|key|p12|pem|pfx|properties|toml|txt|ya?ml))$`)
	// passAlone matches "pass" without any word before it.
	passAlone = lazyregexp.New(`(?i)^\W*(pass)\W*$`)
	word      = lazyregexp.New(`^[A-Z]?[a-z]+$`)
)

// isHarmless reports whether a value is not a secret, given the text before and after it.
func isHarmless(before, value, after string) bool {
	switch {
	case placeholder.MatchString(value), keyFile.MatchString(value):
		return true
	case before == "": // a known form
		return false
	case strings.Contains(before, "://"):
		return port.MatchString(value) || imagePort.MatchString(value) && strings.HasPrefix(after, "@sha256:")
	case strings.HasSuffix(before, `"`), strings.HasSuffix(before, "'"), strings.HasSuffix(before, "`"):
		return false
	case prose.MatchString(value) && !strings.HasSuffix(strings.TrimSpace(before), "="):
		return true
	case strings.HasPrefix(value, "-") && !strings.ContainsAny(before, "=:"), strings.HasPrefix(value, ":"), strings.HasPrefix(value, "//"):
		return true // the next flag, or a part of a path
	}
	return isCount(before, value)
}

// isCount reports whether a value without quotes is too short to be a secret, or is a number that such a name may count.
func isCount(before, value string) bool {
	name := strings.ToLower(before)
	switch {
	case strings.HasSuffix(strings.TrimSpace(name), "bearer"):
		return word.MatchString(value)
	case passAlone.MatchString(before):
		// Test programs count and name the tests that passed.
		return number.MatchString(value) || strings.Contains(before, "PASS") && strings.Contains(before, ":")
	case strings.Contains(name, "pwd"):
		return strings.HasPrefix(value, "/")
	case strings.Contains(name, "pass"), strings.Contains(name, "pw"):
		return false
	}
	return number.MatchString(value) || len(value) < 4
}
