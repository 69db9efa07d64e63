package meaning

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

var (
	// step matches the line in which a tool names the migration that it runs or that failed, and stepDone that of one that is over.
	step     = lazyregexp.New("^ *Applying ([\\w.]+)\\.\\.\\.(?: *$|Traceback)|\\bRunning upgrade (?:\\S+ )?-> (\\w+)|^Applying migration `([^`]+)`|^Migration name: (\\S+)|[Mm]igration (V\\S+\\.sql) failed|(?i:\\b(?:error|fail\\w*)\\b.{0,40}(?: |\\S*/))(?:\\d{8,}_(\\w+)|(\\d{3,7}_\\w+))(?:\\.\\w+)*\\.sql\\b|^== \\d+ (\\w+): migrating|^Running Changeset: (\\S+)|\\bwhile executing migration (\\w+)|^ *(?:Database|Compilation|Runtime) Error in (model \\w+)")
	stepDone = lazyregexp.New(`^ *Applying \S+\.\.\. OK|^== \d+ \w+: migrated|(?i:successfully (?:applied|finished)|no pending migrations|migrations? (?:complete|applied|finished|done))`)
	// ofCloud matches what programs say about objects, buckets and repositories in clouds, and ofURL the errors of programs that ask for a URL.
	ofCloud = lazyregexp.New(`(?i)\baccess ?denied(?:[.:]|exception|$)|\bforbidden\b|NoSuch(?:Bucket|Key)|\b(?:bucket|object|key)\b.* does not exist|An error occurred \(|\bapi error\b|ServiceException|signature we calculated|access key id|request failed with 403|insufficient permission|: directory not found$|unable to open config file|not authorized to perform this operation|\bStat: |not entitled|does not have \S+ access`)
	ofURL   = lazyregexp.New(`^(curl|wget): `)
	// ofElse matches errors of others: of a database, the API server, or another service of AWS than S3.
	ofElse = lazyregexp.New(`\bfor user\b|Error from server|is forbidden: |system:serviceaccount|(?:when calling the|operation error) (?:[A-RT-Z]\w*|S[A-Z]S|S[a-z]\w+)(?: operation|:)`)
	ofS3   = lazyregexp.New(`when calling the \w*(?:Object|Bucket|Multipart|Part)\w* operation|operation error S3:`)
	// definitely matches errors that only a storage of objects has.
	definitely = lazyregexp.New(`(?i)NoSuch(?:Bucket|Key)|bucket|object|\bkey\b|S3|An error occurred \(|signature we calculated|access key id|request failed with 403`)
	// object matches the address of an object, a bucket or a repository in a cloud, bucketIn the name of a bucket, webURL the address of a page, and variableIn a variable in a script.
	object     = lazyregexp.New(`\b(?:s3a?|gs|gcs|b2|abfss?|wasbs?|swift|sftp|rest|azure):(?://|https?://|[\w.-]+/)` + inURL + `*|\bhttps://(?:[\w.-]+\.)?(?:blob\.core\.windows\.net|amazonaws\.com|storage\.googleapis\.com)/` + inURL + `*`)
	bucketIn   = lazyregexp.New(`\bS3 [Bb]ucket (?:\(([\w.-]+)\)|"([\w.-]+)"|([a-z0-9]+[-.][\w.-]*\w))`)
	webURL     = lazyregexp.New(`\bhttps?://` + inURL + `+`)
	variableIn = lazyregexp.New(`\$\{?(\w+)\}?`)
	// uri matches the path that pgBackRest asks for.
	uri = lazyregexp.New(`URI/Query \*\*\*:(?:\\n|\n)\s*(/[^\s\\]+)`)
	// loginPart matches the user and the password in a URL.
	loginPart = lazyregexp.New(`//[^/\s]*@`)
	// secretPath matches a URL whose path may be a secret, as those of hooks are.
	secretPath = lazyregexp.New(`^(https?://[^/\s]+)/(?:bot\d|services/|hooks?/|webhooks?/|\S*[\w-]{0,32}\d[\w-]{15,}|\S*[\w-]{15,}\d).*`)
	// commandEnd separates the commands of a script, and beforeCommand matches what may be before the name of one.
	commandEnd    = lazyregexp.New(`[\n;]|&&|\|\|?|\$\(|\bthen\b|\bdo\b`)
	beforeCommand = lazyregexp.New(`^(?:[\s(!{]|(?:exec|time|if|while|until|sudo) |\w+=\S* )*`)
)

// inURL are the characters of a URL in a script or a log.
const inURL = "[^\\s\"'`,;|&)<>\\\\]"

// StepIn returns the last migration that a log reports as started but not as finished, or "".
func StepIn(lines []string) string {
	name := ""
	for _, line := range lines {
		if text := readLine(line).text; stepDone.MatchString(text) {
			name = ""
		} else {
			name = cmp.Or(step.Group(text), name)
		}
	}
	if name == "" {
		return ""
	}
	return "migration " + wording.Shorten(name, maxDetail)
}

// Place returns what the program worked on when it failed, if the text of the error leaves it out: the migration that the log
// names, the line of a file, what the log or the template name of a cloud, a URL, or a server; "" if that is unknown. known is nil for an
// unknown error.
func (q *Clue) Place(known *KnownError, c *Container) string {
	text, place, isVague := q.Words, q.Step, false
	if known != nil {
		if _, label := injection(c, known.Subject); label != "" {
			return "its pod lacks label " + label
		}
		const anyCode = 1
		text, isVague = known.Text(), known.Subject == "" || known.Subject == vagueForbidden
		q = &Clue{Words: text, Log: q.Log}
		if at := LineOfError(anyCode, q.Log); at >= 0 {
			q.Words = q.Log[at]
		}
	}
	switch m := codeLine.FindStringSubmatch(q.Words); {
	case m != nil && known != nil && strings.HasPrefix(q.Words, "psql:"):
		place = fmt.Sprintf("line %s of %s", m[2], m[1])
	case place != "", object.MatchString(text), strings.Contains(text, " on arn:"):
	case isVague && slices.Contains(unreached, known.Kind):
		found, _ := q.server(c)
		place = cmp.Or(q.url(c), found.host)
	case isVague:
		place = cmp.Or(plainAddress(webURL.FindString(q.Words)), q.object(c).host, q.url(c))
	default:
		place = cmp.Or(q.object(c).host, q.url(c))
	}
	_, bare, _ := strings.Cut(place, "://")
	host, _, _ := strings.Cut(hostIn(place), ":")
	if bare = strings.TrimPrefix(cmp.Or(bare, place), "migration "); strings.Contains(text, bare) || host != "" && strings.Contains(text, host) {
		return ""
	}
	return wording.Shorten(place, maxDetail)
}

// unreached are the errors about a server that does not answer.
var unreached = []ErrorKind{ErrorConnectionRefused, ErrorNoConnection, ErrorTimeout, ErrorNoRoute}

// object returns the object, bucket or repository of a cloud that the error is about, and the place in the template that names it.
func (q *Clue) object(c *Container) (none peer) {
	isElse := serverError.MatchString(q.Words) || ofElse.MatchString(q.Words) && !ofS3.MatchString(q.Words) || webURL.MatchString(q.Words) && !object.MatchString(q.Words)
	if !ofCloud.MatchString(q.Words) || isElse {
		return none
	}
	if name := bucketIn.Group(strings.Join(append(slices.Clone(q.Log), q.Words), "\n")); name != "" {
		return peer{host: "bucket " + name}
	}
	for _, line := range slices.Backward(append(slices.Clone(q.Log), q.Words)) {
		if found := plainAddress(object.FindString(line)); strings.Contains(found, "/") {
			return peer{host: found, place: c.onlyObject().place}
		}
	}
	if found := c.onlyObject(); found.host != "" && (definitely.MatchString(q.Words) || !strings.HasPrefix(found.host, "bucket ")) {
		return found
	}
	return peer{host: uri.Group(strings.Join(q.Log, "\n"))}
}

// about returns the object and where the template names it, or "".
func (q *Clue) about(c *Container) string {
	found := q.object(c)
	return wording.Shorten(found.host, maxDetail) + wording.InBrackets(found.place)
}

// url returns the only URL of the command of the container that failed, "" for other errors.
func (q *Clue) url(c *Container) (found string) {
	program := ofURL.Group(q.Words)
	if httpError.MatchString(q.Words) || strings.HasPrefix(q.Words, "{") { // It printed the answer.
		program = "curl"
	}
	if program == "" {
		return ""
	}
	for _, m := range webURL.FindAllStringSubmatch(c.expanded(c.command(program)), -1) {
		text := plainAddress(m[0])
		if found != "" || strings.Contains(text, "$") {
			return ""
		}
		found = secretPath.ReplaceAllString(text, "$1")
	}
	return found
}

// plainAddress returns an address without what may be secret: a user with a password, and what follows the path.
func plainAddress(text string) string {
	text, _, _ = strings.Cut(text, "?")
	if strings.HasPrefix(text, "abfs") || strings.HasPrefix(text, "wasb") { // container@account
		return strings.TrimRight(text, ".:")
	}
	return strings.TrimRight(loginPart.ReplaceAllString(text, "//"), ".:")
}

// onlyObject returns the object of a cloud, or the bucket, that the template names, and where; empty if there are several.
func (c *Container) onlyObject() peer {
	var all []peer
	add := func(text, place string) {
		text = plainAddress(text)
		at := slices.IndexFunc(all, func(p peer) bool { return strings.HasPrefix(p.host, text) || strings.HasPrefix(text, p.host) })
		switch {
		case text == "" || strings.Contains(text, "$"):
		case at < 0:
			all = append(all, peer{host: text, place: place})
		case len(text) > len(all[at].host):
			all[at] = peer{host: text, place: place}
		}
	}
	for _, argument := range c.Arguments {
		for _, m := range object.FindAllStringSubmatch(c.expanded(argument), -1) {
			add(m[0], "the command or args of container "+c.Name)
		}
	}
	for i := range c.Variables {
		v := &c.Variables[i]
		place := "variable " + v.Name + " of container " + c.Name
		if found := object.FindString(v.Value); found != "" {
			add(found, place)
		} else if strings.Contains(v.Name, "BUCKET") && hostName.MatchString(v.Value) && len(all) == 0 {
			add("bucket "+v.Value, place)
		}
	}
	if len(all) != 1 {
		return peer{}
	}
	return all[0]
}

// confidential matches commands that may have credentials.
var confidential = lazyregexp.New(`(?i)pass|token|secret|authorization|key|\s-p\S|\s-[kpu]\s|@`)

// localTool matches the names of tools that work on files and text.
var localTool = lazyregexp.New(`^(?:date|sed|g?awk|tar|find|grep|sort|cut|head|tail|tr|g?zip|unzip|xargs|expr|bc|dd|split|jq|yq|openssl|base64|envsubst|numfmt|seq|stat|du|df|ps|nc)$`)

// expanded returns a text with the values of the variables that the template has.
func (c *Container) expanded(text string) string {
	return variableIn.ReplaceAllStringFunc(text, func(reference string) string {
		if v := c.variable(variableIn.Group(reference)); v != nil && v.Value != "" && !confidential.MatchString(v.Name) {
			return v.Value
		}
		return reference
	})
}

// commands returns the command of the container, or those of its script.
func (c *Container) commands() []string {
	all := []string{strings.Join(c.Arguments, " ")}
	if slices.ContainsFunc(c.Arguments, isShell) {
		all = strings.Split(commandEnd.ReplaceAllString(c.Arguments[len(c.Arguments)-1], "\n"), "\n")
	}
	for i, text := range all {
		all[i] = strings.TrimRight(text[len(beforeCommand.FindString(text)):], " )")
	}
	return all
}

// command returns the command of the container, or of its script, that runs a program, or "" unless there is exactly one.
func (c *Container) command(program string) (found string) {
	for _, text := range c.commands() {
		name, _, _ := strings.Cut(text, " ")
		if path.Base(name) == program && found != "" && found != text {
			return ""
		}
		if path.Base(name) == program {
			found = text
		}
	}
	return found
}
