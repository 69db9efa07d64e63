package secrets

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

// Span is a part of a text that is removed.
type Span struct {
	From, To int
	What     string
	// Aliased is set for a match of a user's pattern.
	Aliased bool
}

// Parts of patterns.
const (
	// keyWords are words that make "key" a secret; other keys sort, partition or select.
	keyWords = `api|app|access|account|auth|client|consumer|cookie|deploy|encryption|fernet|hmac|jwt|licen[cs]e|master|private|secret|service|session|shared|shared[-_.]?access|signing|ssh|storage|subscription|webhook`
	// accounts are words that make "pass" a password: "bypass" is not one.
	accounts = `admin|bind|db|ftp|http|ldap|login|mail|my|mysql|pg|postgres|proxy|redis|require|root|smtp|sql|ssh|user`
	// named matches the end of the name of a secret, in any case: db.password, API_KEY, clientSecret, X-Auth-Token,
	// DB_PASS_1.
	named = `(?:passw(?:or)?ds?|passphrase|passcode|secret|token|jwt|credentials?|(?:` + keyWords + `)[-_.]?key|(?:\b|_|\d|` + accounts + `)(?:pass|pwd|pw)|(?-i:[a-z]P(?:ass|wd)))(?:[-_]?(?:\d{1,2}|base|b64|base64|hash|hashed|plain|value))?`
	// colors matches the escape sequences for colors between a name and its value.
	colors = `(?:\x1b\[[\d;]*m)*`
	// is matches the separator between a name and its value.
	is = `\\*(?:["'\x60]|&quot;|&#3[49];)?[\])]?` + colors + `[ \t]*(?:=>|:=|==?|:|&#61;|%3[AaDd])[ \t]*` + colors
)

// formats are known formats of credentials.
var formats = []struct {
	what, hints string
	patterns    []string
}{
	{"AWS access key", "akia asia abia acca", []string{`\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b`}},
	{"GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", []string{`\bgh[pousr]_[A-Za-z0-9]{30,}`, `\bgithub_pat_\w{22,}`}},
	{"GitLab token", "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- gr1348941", []string{`\bgl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w.-]{20,}`, `\bGR1348941[\w-]{20,}`}},
	{"Slack token", "xox xapp-", []string{`\bxox[abceoprs](?:\.xox[bp])?-[\w-]{10,}`, `\bxapp-\d-[\w-]{10,}`}},
	{"Google key", "aiza ya29. gocspx- 1//0", []string{`\bAIza[\w-]{35}`, `\bya29\.[\w-]{20,}`, `\bGOCSPX-[\w-]{28}`, `\b1//0[\w-]{30,}`}},
	{"Stripe key", "k_live_ k_test_ whsec_", []string{`\b[rsp]k_(?:live|test)_\w{20,}`, `\bwhsec_[\w+/=]{20,}`}},
	{"Vault token", "hvs. hvb. hvr.", []string{`\bhv[bsr]\.[\w-]{20,}`}},
	{"API token", "hf_ npm_ pypi- rubygems_ dckr_", []string{`\bhf_[A-Za-z0-9]{30,}`, `\bnpm_[A-Za-z0-9]{36}`, `\bpypi-[\w-]{50,}`, `\brubygems_[0-9a-f]{48}`, `\bdckr_[op]at_[\w-]{20,}`}},
	{"API token", "sk- gsk_ pplx- r8_", []string{`\bsk-[A-Za-z0-9]{20,}`, `\bsk-(?:proj|ant|svcacct|admin|or|lf)-[\w-]{20,}`, `\bgsk_[A-Za-z0-9]{40,}`, `\bpplx-[A-Za-z0-9]{40,}`, `\br8_[A-Za-z0-9]{37}`}},
	{"API token", "sg. key- :aa _v1_ dapi shp sq0 .atlasv1. 7q~ 8q~", []string{`\bSG\.[\w-]{16,}\.[\w-]{16,}`, `\bkey-[0-9a-f]{32}\b`, `\b\d{8,10}:AA[\w-]{33}`, `\bdo[opr]_v1_[0-9a-f]{64}`, `\bdapi[0-9a-f]{32}`, `\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}`, `\bsq0(?:atp|csp)-[\w-]{22,}`, `\w{14}\.atlasv1\.[\w-]{60,}`, `\b\w{3}[78]Q~[\w~.-]{34}`}},
	{"API token", "glsa_ glc_ lin_api_ atatt3 atbb nrak- sntry dp. age-secret-key-1 sbp_ ntn_ figd_ hrku-", []string{`\bgl(?:sa|c)_[\w+/=]{32,}`, `\blin_api_\w{40}`, `\bATATT3[\w=-]{50,}`, `\bATBB[A-Za-z0-9]{32}`, `\bNRAK-[A-Z0-9]{27}`, `\bsntry[su]_[\w+/=]{40,}`, `\bdp\.(?:pt|st|ct|sa)\.[\w.]{40,}`, `\bAGE-SECRET-KEY-1[A-Z0-9]{58}`, `\bsbp_[0-9a-f]{40}`, `\bntn_[A-Za-z0-9]{40,}`, `\bfigd_[\w-]{40}`, `\bHRKU-[\w-]{36,}`}},
	{"API token", "eaa pmak- pat- xai-", []string{`\bEAA[A-Za-z0-9]{40,}`, `\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}`, `\bpat-(?:na|eu)\d-[0-9a-f-]{36}`, `\bxai-\w{60,}`}},
	{"JSON web token", "eyj", []string{`\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+){0,3}`}},
	{"password hash", "$2 $5$ $6$ $y$ $apr1$ $argon2", []string{`\$(?:2[abxy]|5|6|y|apr1|argon2\w*)\$[\w./$=,+-]{20,}`}},
	{"credentials of registries in base64", "eyjhdxrocyi6", []string{`\beyJhdXRocyI6[A-Za-z0-9+/]{8,}=*`}},
	{"key or certificate in base64", "ls0tls1crudjti", []string{`\bLS0tLS1CRUdJTi[A-Za-z0-9+/]{8,}=*`}},
}

// secrets lists all kinds of secrets, the more specific ones first.
var secrets = slices.Concat([]secret{
	{what: "private key", pattern: lazyregexp.New(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)`)},
	{what: "private key", pattern: lazyregexp.New(`(?s)^(?:[^-]|-[^-])*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)}, // the log starts within the key
}, formatSecrets(), []secret{
	{what: "Slack webhook", hints: "hooks.slack.com", pattern: lazyregexp.New(`\bhooks\.slack\.com/(?:services|workflows)/([\w/-]{20,})`)},
	{what: "password in a URL", hints: "://", pattern: lazyregexp.New(`(?i)\b[a-z][a-z0-9+.-]*://(?:[^\s:/@"'<>]*?(?::|%3a)([^\s"'<>]+)|([^\s:/@"'<>]{20,}))@`)},
	{what: "password in a URL", hints: "jdbc:oracle: @tcp( @unix(", pattern: lazyregexp.New(`(?i)\bjdbc:oracle:\w+:[^\s/@"']+/([^\s"']+)@|\b[\w.-]+:([^\s"'@]+)@(?:tcp|unix)\(`)},
	{what: "password in a URL", hints: "%3a%2f%2f", pattern: lazyregexp.New(`(?i)%3a%2f%2f[^\s%:/]*%3a([^\s"'&]+?)%40`)},
	{what: "signature in a URL", hints: "sig", pattern: lazyregexp.New(`(?i)[?&;](?:sig|signature|x-amz-signature|x-goog-signature)=([^\s&"']{8,})`)},
	{what: "authorization header", hints: "authorization", pattern: lazyregexp.New(`(?i)\bauthorization(?:` + is + `|\\*["'][ \t]*,[ \t]*)\[?\\*["']?(?:[a-z][\w-]*(?:[ \t]+|%20))?([\w-]+=(?:"[^"\n]*"|[^\s",]+)(?:,[ \t]*[\w-]+=(?:"[^"\n]*"|[^\s",]+))+|[^\s"',;\\\]\x1b]{4,})`)},
	{what: "bearer token", hints: "bearer", pattern: lazyregexp.New(`(?i)\bbearer\s+([\w.~+/-]{8,}=*)`)},
	{what: "cookie", hints: "cookie", pattern: lazyregexp.New(`(?i)\bcookie` + is + `\[?\\*["']?([\w.-]+=(?:[^\r\n"'\\\]]|=?\\{0,3}"[^"\r\n,:]*\\{0,3}"[ \t]*;?)+)`)},
	{what: "named secret", hints: nameHints, pattern: lazyregexp.New(`(?i)` + named + `(` + is + `)`), announces: true},
	{what: "named secret", hints: "value", pattern: lazyregexp.New(`(?i)` + named + `\\*["']?[ \t]*(?:,|:[ \t]*\{)?\s*\\*["']?\bvalue(` + is + `)`), announces: true},
	{what: "named secret", hints: nameHints, pattern: lazyregexp.New(`(?i)(?:^|[\s"'\[,(=])--?[\w.-]*` + named + `(\\*["'][ \t]*,[ \t]*|[ \t]+)`), announces: true},
	{what: "named secret", hints: "</", pattern: lazyregexp.New(`(?i)<[\w:.-]*` + named + `(?:\s[^<>]*)?>\s*(?:<!\[CDATA\[)?([^<\s][^<]*?)(?:\]\]>)?\s*</|\b(?:name|key)=["'][\w:.-]*` + named + `["'][^<>]*>\s*([^<\s][^<]*?)\s*</`)},
	{what: "named secret", hints: "&lt;/", pattern: lazyregexp.New(`(?i)&lt;[\w:.-]*` + named + `&gt;\s*([^<\s]{1,200}?)\s*&lt;/`)},
	{what: "named secret", hints: nameHints, pattern: lazyregexp.New(`(?i)\{[\w:.-]*` + named + `[ \t]+([^\s{}]{4,})\}`)},
	{what: "named secret", hints: `"value"`, pattern: lazyregexp.New(`(?i)"value"[ \t]*:[ \t]*"((?:[^"\\\n]|\\.)+)"[ \t]*,[ \t]*"(?:name|key)"[ \t]*:[ \t]*"[\w.-]*` + named + `"`)},
	{what: "named secret", hints: "identified passw", pattern: lazyregexp.New(`(?i)\b(?:identified by|passw(?:or)?d)[ \t]+(?:'((?:[^'\n]|'')+)'|"([^"\n]+)")`)},
	{what: "named secret", hints: "password passphrase", pattern: lazyregexp.New(`(?i)\b(?:temporary password[^:\n]{0,80}:|(?:password|passphrase) is:?)[ \t]+["']?([^\s"']*[\d\W_][^\s"']*)`)},
	{what: "named secret", hints: "password requirepass masterauth", pattern: lazyregexp.New(`(?im)\blogin\s+\S+\s+password[ \t]+(\S+)|^[ \t]*(?:requirepass|masterauth)[ \t]+(\S+)`)},
	{what: "named secret", hints: "auth", pattern: lazyregexp.New(`(?i)(?:\b|")_?auth` + is + `\\*["']?([\w+/-]{16,}=*|[A-Za-z0-9+/]{6,}={1,2})|\b(?:http)?(?:basic|digest)?auth["']?[ \t]*[:=]?[ \t]*\([ \t]*b?["'][^"'\n]*["'],[ \t]*b?["']([^"'\n]+)`)},
	{what: "password of a .pgpass", hints: ":543 :6432: :*:", pattern: lazyregexp.New(`(?m)^[\w.*-]+:(?:543\d|6432|\*):[\w*-]+:[\w*.-]+:(\S+)$`)},
})

// nameHints are the hints for named secrets.
const nameHints = "pass pw secret token jwt credential key"

func formatSecrets() (all []secret) {
	for _, f := range formats {
		all = append(all, secret{what: f.what, hints: f.hints, pattern: lazyregexp.New(strings.Join(f.patterns, "|")), wraps: true})
	}
	return all
}

// Named matches the name of a field, or the flag before an argument, whose value is a secret.
var Named = lazyregexp.New(`(?i)` + named + `$`)

// find returns the positions of the secret in a text; lower is the text in lower case.
func (s *secret) find(text, lower string) (found []Span) {
	for _, window := range s.windows(text, lower) {
		quotes, at := quoting{}, window.From // the state of quotes at a position
		for _, m := range s.pattern.FindAllStringSubmatchIndex(text[window.From:window.To], -1) {
			begin, from, to := window.From+m[0], window.From+m[0], window.From+m[1]
			end := to
			for g := 2; g < len(m); g += 2 {
				if m[g] >= 0 {
					from, to = window.From+m[g], window.From+m[g+1]
					break
				}
			}
			switch {
			case begin < at && s.announces: // within the value before it
				continue
			case s.announces:
				quotes, at = quotes.after(text[at:end], byteBefore(text, at)), end
				a := announced{text: text, name: begin, end: from, value: end, quotes: quotes}
				from, to = a.find()
				if from < to && !IsHarmless(text[begin:from], text[from:to], text[to:]) {
					to = a.extended(from, to)
					found = append(found, Span{From: from, To: to, What: s.what})
					quotes, at = quotes.after(text[at:to], byteBefore(text, at)), to
				}
			case from < to && !IsHarmless(text[begin:from], text[from:to], text[to:]):
				found = append(found, Span{From: from, To: to, What: s.what})
			}
		}
	}
	return found
}

func byteBefore(text string, i int) byte {
	if i == 0 {
		return 0
	}
	return text[i-1]
}

// windows returns the parts of a text that may contain the secret: each line with a hint, and the lines before and after it.
func (s *secret) windows(text, lower string) (windows []Span) {
	switch {
	case s.hints == "", len(lower) != len(text): // Few letters change their length in lower case.
		return []Span{{From: 0, To: len(text)}}
	case !s.hinted(lower):
		return nil
	}
	for previous, begin := 0, 0; begin < len(text); {
		end := endOfLine(text, begin)
		if s.hinted(lower[begin:end]) {
			window := Span{From: previous, To: endOfLine(text, end)}
			if last := len(windows) - 1; last >= 0 && window.From < windows[last].To {
				windows[last].To = window.To
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

var (
	// placeholder matches values that stand for a secret, or for none.
	placeholder = lazyregexp.New(`(?i)^(?:true|false|yes|no|on|off|null|nil|none|undefined|empty|unset|not[- ]?set|<[^>]*>?|\[removed.*|\[?\(?(?:redacted|removed|masked|filtered|hidden)\)?\]?|[*•]+|x{3,}|\$\{[^}]*\}?|(?-i:\$[A-Z_][A-Z0-9_]*)|\$\(.*|[\w.]+(?:\(\)|\[["']\w+["']\])|\{\{.*|\.{3}|[|<>&\\]+)$`)
	// prose matches words that follow names of secrets in sentences.
	prose = lazyregexp.New(`(?i)^(?:a|an|and|are|at|authentication|authorization|auth|bad|by|cannot|can't|changed|connection|context|denied|disabled|does|doesn't|enabled|error|expired|expires|failed|field|file|flag|for|found|from|get|granted|has|have|if|in|incorrect|invalid|is|it|length|list|mismatch|missing|must|not|of|ok|operation|option|or|permission|policy|provided|refused|rejected|required|reset|secrets|serviceaccounts|should|string|the|to|too|unauthorized|unexpected|was|watch|when|which|will|with|wrong)[.,:;!]?$`)
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

// maxHarmless is the longest value that is not a secret, in bytes. It keeps the time linear: no long value is searched twice.
const maxHarmless = 300

// IsHarmless reports whether a value is not a secret, given the text before and after it.
func IsHarmless(before, value, after string) bool {
	switch {
	case len(value) > maxHarmless:
		return false
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
