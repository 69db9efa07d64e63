package meaning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Clue is an error that no row knows: the words that an answer quotes, and the end of the log that has them. Step has the result of StepIn.
type Clue struct {
	Words, Step string
	Log         []string
}

// clues return advice by what an error names: what it asks for in so many words; a variable, file, option or value of the pod template;
// the status of a response, or a server that fails. What a program itself advises is better than one of the weakClues.
var (
	clues = []func(*Clue, *Container) Remedy{
		unanswered, askedVault, asked(accessAsks), brokenCode, inTemplate(unread), unservedKind, asked(asks), inTemplate(refusedOption), inTemplate(wrongWord), inTemplate(undefinedReference), inTemplate(namedVariable), inTemplate(namedFile), inTemplate(namedOption), responseStatus, failedServer, asked(lateAsks),
	}
	weakClues = []func(*Clue, *Container) Remedy{inTemplate(missingVariable), lastReason, inTemplate(wrongUsage), faultyCode, inTemplate(givenWord)}
)

// inTemplate returns a clue whose advice is about the pod template.
func inTemplate(advise func(*Clue, *Container) string) func(*Clue, *Container) Remedy {
	return func(q *Clue, c *Container) Remedy { return Remedy{Text: advise(q, c), OfTemplate: true} }
}

// Remedy returns advice on the error, with what the program itself advises, and where the template has a word of the error; nothing if the
// error names nothing of the template and the program advises nothing.
func (q *Clue) Remedy(c Container) (out Remedy) {
	if q.Words == "" {
		return out
	}
	own, all := q.ownAdvice(&c), clues
	if own.clause == "" {
		all = slices.Concat(clues, weakClues)
	}
	for _, clue := range all {
		if out = clue(q, &c); out.Text != "" {
			break
		}
	}
	switch {
	case out.Text != "":
		out.Text = own.beside(wording.Join("; ", out.Text, q.holder(), q.originBeside(out.Text, &c), q.lineOfScript(&c)))
	case own.clause != "":
		text := "do what its log advises: " + own.text("")
		out = Remedy{Text: wording.Join("; ", text, q.originBeside(text, &c), q.lineOfScript(&c)), OfTemplate: own.place != ""}
	}
	return out
}

// Remedy returns advice on the error; q has its words and its log.
func (e *KnownError) Remedy(q *Clue, c Container) Remedy {
	c.object, c.trust = q.about(&c), q.trust()
	if out := e.ofHosts(&c); out.Text != "" {
		return out
	}
	for _, clue := range []func(*Clue, *Container) string{unread, undefinedReference} {
		if out := inTemplate(clue)(q, &c); out.Text != "" && (e.Kind == ErrorUsage || strings.ContainsAny(q.Words, "<>|&$*~")) {
			return out
		}
	}
	if out := e.ofMigration(q, &c); out.Text != "" {
		return out
	}
	if out := e.ofPeer(q, &c); out.Text != "" {
		return out
	}
	if out := e.ofAccess(q, &c); out.Text != "" {
		return out
	}
	if slices.Contains(local, e.Kind) && serverError.MatchString(q.Words) { // The server has no space, or no memory.
		if out := cmp.Or(asked(asks)(q, &c), failedServer(q, &c)); out.Text != "" {
			return out
		}
	}
	text := wording.Join("; ", e.Advice(c), q.holder(), q.other(e, &c), q.lineOfScript(&c))
	if own := q.adviceOn(e, &c); text != "" {
		text = own.beside(text)
	}
	text += prefixed("; ", e.ofSpark(q))
	return Remedy{Text: text, OfTemplate: e.IsOfTemplate() || e.ofToken(&c), Elsewhere: e.IsElsewhere() && !e.ofToken(&c)}
}

// other returns advice on the words of a log if they are about another error than the known one, which is decisive: a command that does
// not exist; "" otherwise.
func (q *Clue) other(known *KnownError, c *Container) string {
	if known.Kind != ErrorCommandNotFound || strings.Contains(q.Words, known.Subject) || !deniedWords.MatchString(q.Words) {
		return ""
	}
	return prefixed("and ", namedFile(q, c))
}

// ofSpark returns what the driver of Spark has to do besides the request that the API server denied, "" if the log is not of one.
func (e *KnownError) ofSpark(q *Clue) string {
	if log := strings.Join(q.Log, "\n"); !e.Access.HasRule() || !strings.Contains(log, "io.fabric8") || !strings.Contains(log, "Spark") {
		return ""
	}
	return "the driver of Spark also has to create, watch and delete pods, services and configmaps, which ClusterRole edit allows"
}

// ofLock matches an error about a lock, and heldBy what programs say about who holds it, and of Terraform its ID.
var ofLock = lazyregexp.New(`(?i)\block(?:ed|s)?\b`)

var heldBy = lazyregexp.New(`(?i:\block(?:ed)?\b[^.:]{0,30}? by) (.*\d.*)|^\W*Who: +(\S+)|^\W*(ID): +(\S+)`)

// holder returns what the log says about who holds the lock that the program needs, "" without that.
func (q *Clue) holder() (who string) {
	for _, line := range q.Log {
		text := strings.Join(strings.Fields(strings.Trim(strings.Join(append(heldBy.FindStringSubmatch(line), "", "")[1:], " "), `" `)), " ")
		if !strings.Contains(who, text) {
			who = wording.Join(", ", who, text)
		}
	}
	if who == "" || !ofLock.MatchString(q.Words) {
		return ""
	}
	return "its log names who holds it: " + wording.Quoted(wording.Shorten(who, maxAdvice))
}

// question matches what a program asks at a terminal.
var question = lazyregexp.New(`(?i)[(\[](?:y/n|y\|n|yes/no)[)\]]\W*(?:abort\w*\W*)?$|^\? \S.*[?:)]\W*$|^\s*(?:please )?(?:enter|type) .*: *$`)

const askNothing = "have the program ask for nothing, as a container of a Job has no terminal: by an option such as --batch (gpg: with --pinentry-mode loopback), --yes, --force or --no-input in the command of container {container}"

// unanswered is the clue of a question before or after the error.
func unanswered(q *Clue, c *Container) Remedy {
	tail := q.Log[max(0, len(q.Log)-maxAdviceLines):]
	i := slices.IndexFunc(tail, question.MatchString)
	if i < 0 {
		return Remedy{}
	}
	return Remedy{Text: wording.Insert(askNothing, "{container}", c.Name) + "; its log asks: " + wording.Quoted(wording.Shorten(strings.TrimSpace(tail[i]), maxAdvice))}
}

// asked returns the clue of a phrase in a list.
func asked(list []ask) func(*Clue, *Container) Remedy {
	return func(q *Clue, c *Container) Remedy { return q.phraseIn(q.Words, list, c) }
}

// phraseIn returns the advice on the first of the phrases that these words of the error have, and the server whose log that names. Another
// image is set in the pod template, values of a chart and servers are not.
func (q *Clue) phraseIn(words string, list []ask, c *Container) Remedy {
	for i := range list {
		if m := list[i].phrase.FindStringSubmatch(words); m != nil {
			of, _ := q.server(c)
			if of == (peer{}) && strings.Contains(list[i].advice, "{log of server}") {
				continue
			}
			code, line, _ := q.codeIn(c)
			pairs := []string{"{container}", c.Name, "{image}", c.Image, "{template}", c.sourceOf(m[1:]), "{user}", c.userText(), "{inputs}", cmp.Or(c.givenInputs(), c.configurationText()), "{place}", wording.InBrackets(wording.Join(" of ", prefixed("line ", line), code)), "{file}", cmp.Or(wording.Shorten(fileIn(q.Words, c), maxDetail), "the file that the program reads"+wording.InBrackets(c.givenInputs())), "{volumes}", cmp.Or(c.lastingMounts(), c.configurationText()), "{(volumes)}", wording.InBrackets(c.lastingMounts()), "{directory}", cmp.Or(wording.Shorten(fileIn(q.Words, c), maxDetail), "the data folder of the program"), "{schedules}", prefixed("; have schedules that use the same data start at times apart, as concurrencyPolicy sees only the runs of CronJob ", c.CronJob), "{code}", cmp.Or(c.fixedMounts(), "image "+c.Image), "{credentials}", c.credentialsText(), "{configuration}", c.configurationText(), "{addresses}", cmp.Or(c.addresses(), c.argumentsText()), "{connection}", cmp.Or(c.connection(), c.argumentsText()), "{server}", of.name(), "{trust}", prefixed(", ", q.trust()), "{at server}", prefixed(" at ", cmp.Or(q.about(c), strings.TrimPrefix(of.name(), "the server"))), "{object}", cmp.Or(q.about(c), "the bucket"), "{elsewhere}", "", "{rights}", rightsOn(q.object(c).host), "{initialize}", initialization(c), "{log of server}", "the log of " + of.name(), "{values}", c.valuesText(), "{account}", c.account(), "{namespace}", c.Namespace, "{node}", c.nodeText(), "{API server}", "the API server of the cluster", "{in namespace}", cmp.Or(prefixed("in namespace ", cmp.Or(namespaceOption.Group(strings.Join(c.Arguments, " ")), c.Namespace)), "in the namespace where the program looks for it"), "{(configuration)}", wording.InBrackets(c.givenConfiguration()), "{devices}", c.devicesText(), "{token}", c.tokenAdvice(), "{scratch}", scratchOf(c), "{migration}", prefixed(" of ", q.Step), "{temporary}", cmp.Or(mountOf("/tmp", c.Mounts).place(*c), "/tmp of container "+c.Name), "{limit}", cmp.Or(limitOption.Group(strings.Join(c.commands(), "\n")), "its options") + " in " + c.inArguments()}
			groups := slices.DeleteFunc(m[1:], func(group string) bool { return group == "" })
			for n, group := range groups {
				pairs = append(pairs, fmt.Sprintf("{%d}", n+1), wording.Shorten(group, maxDetail))
			}
			advice := list[i].advice
			has := func(key string) bool { return strings.Contains(advice, key) }
			out := Remedy{Text: wording.Insert(advice, pairs...), Elsewhere: has("{values}") || has("server}") || has("{elsewhere}"), OfTemplate: has("{image}") || has("env of container {container}")}
			if has("{log of server}") {
				out.Server = of.host
			}
			return out
		}
	}
	return Remedy{}
}

var (
	// finding matches the count of what a program found that it looks for, or its score.
	finding = lazyregexp.New(`(?i)(?:^\W*|\bfound )[1-9]\d* (?:[a-z]+ ){0,2}(?:issues?|problems?)\b(?: (?:found|detected|\(.*\)))?\W*$|\b[1-9]\d* (?:[a-z]+ ){0,2}(?:vulnerabilit(?:y|ies)|violations|(?:policy|rule|lint) violation|findings?|offen[sc]es?|leaks?|misconfigurations?)(?: (?:found|detected|\(.*\)|in \S+(?: files?)?))?\W*$|\bleaks found: \d|(?:^|[^\w ] ?)[1-9]\d* (?:checks?|controls?|rules?|policies) (?:FAIL|failed)|^FAIL - \S+ - |\b(?:FAIL|WARN)-NEW: [1-9]|` +
		`\bTotal: [1-9]\d* \(\w+: \d|\b(?:discovered|detected|found) (?:(?:new|known|high|critical|[1-9]\d*) ){0,2}(?:vulnerabilities|CVE-\d)|\bfound [1-9]\d* secrets|\bQUALITY GATE STATUS: FAILED|\bcluster score: \d{1,3}\b|^\W*grade: [B-F]$|^score: \d{1,3} -- [A-F]|\b(?:coverage|score|severity)\b.{0,40}\b(?:above|below|exceeds?|under|over) (?:[a-z]+ ){1,3}threshold\b|\btoo many warnings\b|\bthresholds? (?:on metrics? .* crossed|have failed)\b`)
	// limitOption matches an option that says when a program exits with an error because of what it found.
	limitOption = lazyregexp.New(`(?:^|\s)(--?(?:[a-z]+-)*(?:exit-code|fail-?(?:on|level|under|threshold)|threshold|min-score|max-warnings)(?:[= ]\S+)?)`)
)

// missingWords matches what errors say about files that do not exist.
var missingWords = lazyregexp.New(`(?i)n[o']t exist|not found|no such|nonexistent|no files? match|(?:cannot|can't|could not|unable to|failed to) (?:find|open|read|load|stat|access|locate|cd)|missing|not a (?:file|directory)`)

// deniedWords matches what errors say about files that the user of the container may not use.
var deniedWords = lazyregexp.New(`(?i)\bpermi(?:ssion|tted)|\bEACCES|\bEPERM|\bown(?:ed|er|ership)\b|\b(?:access|writ|read)i?able\b`)

// reasonAfter matches the reason of an error after a path.
var reasonAfter = lazyregexp.New(`^\S{0,3}: (?:\w+ ){2}`)

// notCreated matches what errors say about files that cannot be created.
var notCreated = lazyregexp.New(`(?i)(?:not|n't|unable to|fail\w* to|error) creat\w+`)

// namedFile is the clue of a file below a mount, or of one that is missing.
func namedFile(q *Clue, c *Container) string {
	e := &KnownError{Subject: fileIn(q.Words, c)}
	in, reason := mountOf(e.Subject, c.Mounts), q.Words
	if _, after, _ := strings.Cut(q.Words, e.Subject); reasonAfter.MatchString(after) {
		reason = after
	}
	switch {
	case e.Subject == "":
		return ""
	case deniedWords.MatchString(q.Words):
		return accessAdvice(e, *c)
	case missingWords.MatchString(reason):
		return e.FileAdvice(*c, c.Mounts)
	case notCreated.MatchString(q.Words):
		return accessAdvice(e, *c)
	case in != nil && in.Directory != "":
		return fmt.Sprintf("check %s on the node, which container %s has at %s", in.Directory, c.Name, in.Path)
	case in != nil:
		return fmt.Sprintf("check what %s has from %s", wording.Shorten(e.Subject, maxDetail), in.place(*c))
	}
	return ""
}

// pathsInWords finds paths, with the number of a line after those of code.
var pathsInWords = lazyregexp.New(`(?:^|file:|[\s'"‘“(=\x60])(\.{0,2}/(?:[^\s'"’”\x60:,;()]+/[^\s'"’”\x60:,;()]+|\.\w[\w.-]*))(:\d+| exited with)?`)

// shellBefore matches the path of a shell before its message.
var shellBefore = lazyregexp.New(`^/\S*sh: (?:\w+ )?`)

// rootOnNode matches the folder of the node in which a runtime has the root of a container.
var rootOnNode = lazyregexp.New(`(?:^|…)/?\S*/(?:rootfs|merged)(/\S+?)\\*$`)

// fileIn returns the last path of the words, or one below a mount; "" if they have only places in code, or the path of a request.
func fileIn(words string, c *Container) (file string) {
	if status.MatchString(words) {
		return ""
	}
	for _, m := range pathsInWords.FindAllStringSubmatch(words[len(shellBefore.FindString(words)):], -1) {
		if m[2] == "" && (file == "" || mountOf(file, c.Mounts) == nil) {
			file = strings.TrimRight(m[1], ".")
		}
	}
	return cmp.Or(rootOnNode.Group(file), file)
}

// options matches options.
var options = lazyregexp.New(`(?:^|[\s'"=(\x60])(--?[A-Za-z][\w-]*(?:\.[\w-]+)*)`)

// optionValue matches options of several words, and their values.
var optionValue = lazyregexp.New(`--([a-z]\w*(?:[-_]\w+)+)[= ]([^\s-]\S*)`)

// notAccepted matches what programs say about options that they do not know.
var notAccepted = lazyregexp.New(`(?i)\b(?:unknown|unrecognized|unexpected|invalid|unsupported|not recognized)\b`)

var (
	// unknownOption matches what programs say about options that they do not know, jointOption about ones with a value, neededOption about missing ones.
	jointOption   = lazyregexp.New(`\boption (-\S+) (\S+): is unknown`)
	unknownOption = lazyregexp.New(`(?i)\bunknown variable '([\w-]+)|\b(?:unknown|unrecognized|unexpected|unsupported) (?:\w+ )?(?:option|flag|argument)(?:s|\(s\))?:? ["'\x60]?(-.+)|["']?\b([a-z][\w-]*)["']? is not a (?:recognized|known|valid) (?:option|flag)`)
	neededOption  = lazyregexp.New(`(?i)(?:\bmissing|\brequires?|\brequired|\bmust (?:provide|specify|set))\b[^;]*?(--[a-z][\w-]+)|(--[a-z][\w-]+)\W[^;]*\b(?:missing|required|must be (?:set|provided|specified|given))\b`)
)

// shownValue returns the value of an option, or "its value" if it may be a secret.
func shownValue(option, value string) string {
	if confidential.MatchString(option) || strings.Contains(value, "@") || strings.HasPrefix(option, "-u") || strings.HasPrefix(option, "--user") || option == "-H" {
		return "its value"
	}
	return wording.Shorten(value, maxCommand)
}

// refusedOption is the clue of an option that the program does not know, or that it needs.
func refusedOption(q *Clue, c *Container) string {
	if m := jointOption.FindStringSubmatch(q.Words); m != nil {
		return fmt.Sprintf("correct the quotes around %s and %s, which are one word in %s (image %s): the program takes both for the name of an option", m[1], shownValue(m[1], m[2]), c.scriptText(), c.Image)
	}
	if m := unknownOption.FindStringSubmatch(q.Words); m != nil {
		return usageAdvice(&KnownError{Subject: m[2] + prefixed("--", m[1]+m[3])}, *c)
	}
	if m := neededOption.FindStringSubmatch(q.Words); m != nil && !c.hasArgument(m[1]+m[2]) {
		return fmt.Sprintf("give container %s the option %s in its command or args, which its program needs", c.Name, m[1]+m[2])
	}
	return ""
}

// namedOption is the clue of an option in the command of the container.
func namedOption(q *Clue, c *Container) string {
	for _, m := range options.FindAllStringSubmatch(q.Words, -1) {
		if c.hasArgument(m[1]) || notAccepted.MatchString(q.Words) {
			return usageAdvice(&KnownError{Subject: m[1]}, *c)
		}
	}
	if option := c.spokenOption(q.Words); option != "" {
		return fmt.Sprintf("correct %s in %s", option, c.inArguments())
	}
	return ""
}

// spokenOption returns an option of several words that a text names in any spelling, with its value unless that may be secret; "" without one.
func (c *Container) spokenOption(text string) string {
	spoken := strings.NewReplacer("_", " ", "-", " ")
	for _, m := range optionValue.FindAllStringSubmatch(strings.Join(c.Arguments, " "), -1) {
		if !strings.Contains(strings.ToLower(spoken.Replace(text)), strings.ToLower(spoken.Replace(m[1]))) {
			continue
		}
		if confidential.MatchString(m[1]) {
			return "--" + m[1]
		}
		return "--" + m[1] + " " + wording.Shorten(m[2], maxDetail)
	}
	return ""
}

// status matches the status of a response of HTTP.
var status = lazyregexp.New(`(?i:\b(?:status|stat|response|returned|HTTP(?:/\d(?:\.\d)?)?|code|error)(?:[ _]?code)?(?: is| returned)?\W{1,3}|\bfailed with )([45]\d\d)\b|\b(4(?:0\d|10|22|29)|50\d)\W{1,3}(?:(?:Client|Server) Error: )?[A-Z][A-Za-z]+`)

// statuses say what to do about a status: "{server}" is the server, or "the server".
var statuses = map[string]string{
	"400": refusedRequest, "405": unsupported, "422": refusedRequest, "501": unsupported,
	"401": "check the credentials that {server} does not accept: {credentials}", "403": "have {server} allow this to the user as whom the program logs in: {credentials}", "403 of an object": "have the policy of {object} allow the program's key or role {rights}, and check key, endpoint and region: {credentials}",
	"403 without credentials": "find out why {server} refuses this: it may want credentials, and {credentials}; or a proxy or firewall answers instead of it, or does not let the request through", "404": "correct {address}, as {server} does not have what the program asks for, or use an image that fits its version", "410": "correct {address}, as {server} no longer has what the program asks for",
	"409": "find out what exists at {server} already, and have the program accept it or use another name", "429": "wait until {server} accepts requests again, or send fewer of them",
}

const (
	refusedRequest = "find out why {server} does not accept this request, which comes from {configuration}: its version, or another product in its place, may not support it; its own log, or the body of its response, says what it expects"
	unsupported    = "find out whether {server} supports this request: its version, or another product in its place, may not; use an image for it (container {container} has {image}), or turn off what needs it"
	ofServer       = "read the log of {server}, which reports this error: its cause is there, not in this Job"
)

// rpcCode matches the code of a response of gRPC, and rpcCodes are the statuses of HTTP that mean the same.
var (
	rpcCode  = lazyregexp.New(`\bcode = (PermissionDenied|NotFound|Unimplemented|AlreadyExists|ResourceExhausted|Internal) desc = `)
	rpcCodes = map[string]string{"PermissionDenied": "403", "NotFound": "404", "Unimplemented": "501", "AlreadyExists": "409", "ResourceExhausted": "429", "Internal": "500"}
)

// maxStatusLines is the number of lines at the end of a log that are searched for the status of a response.
const maxStatusLines = 5

// status returns the status of the response in the error, or just before it, and the host that such a line names; "" without one.
func (q *Clue) status() (code, host string) {
	lines := append(slices.Clone(q.Log[max(0, len(q.Log)-maxStatusLines):]), q.Words)
	slices.Reverse(lines)
	for _, line := range lines {
		if found := cmp.Or(status.Group(line), rpcCodes[rpcCode.Group(line)]); found != "" {
			code, host = cmp.Or(code, found), cmp.Or(host, hostIn(line))
		}
	}
	return code, host
}

// responseStatus is the clue of the status of a response that the server refuses.
func responseStatus(q *Clue, c *Container) Remedy {
	code, _ := q.status()
	of := q.webServer(c)
	if url := webURL.FindString(q.Words); (code == "401" || code == "403") && apiPath.MatchString(url) {
		return Remedy{Text: (&KnownError{Kind: ErrorForbidden, Subject: url}).cloudAdvice(*c), Elsewhere: true}
	}
	switch object := q.about(c); {
	case code == "403" && object != "":
		code = "403 of an object"
	case code == "403" && c.credentials() == "":
		code = "403 without credentials"
	}
	return Remedy{Text: wording.Insert(statuses[code], "{object}", q.about(c), "{rights}", rightsOn(q.object(c).host), "{server}", of.name(), "{container}", c.Name, "{image}", c.Image, "{credentials}", c.credentialsText(),
		"{configuration}", c.configurationText(), "{address}", cmp.Or(q.url(c), c.addresses(), "the address or the name"))}
}

// noServer matches what programs say about a server that they do not reach, without its address.
var noServer = lazyregexp.New(`(?i)\bconnect(?:ed|ing|ion|ivity)?\b|(?:^|[^-\w])timed? ?out|deadline exceeded|(?:://|\bdial|\bread tcp|\breceive data)\S*.*\bEOF\b|\b(?:un|not |n't )(?:be )?(?:\w+ or not )?(?:reach\w*|accessible|available|healthy|ready|respon\w+|initialized yet)\b|code = Unavailable|(?:reading|receive data) from|receive data|no responders|broken pipe|(?:brokens?|no|empty|unexpected) (?:\w+ )?(?:respon\w+|reply|brokers?|servers?|hosts?|primary)\b|\bgone away|link failure|read after eof|transport failure|execute HTTP request|MaxRetriesPerRequest|dropped from queue|unable to find primary|DialectResolutionInfo cannot be null|verify that this server is running`)

// namedServer is advice on a server that does not answer, and of which the error says nothing else.
func (q *Clue) namedServer(c *Container) Remedy {
	var names []string
	for _, p := range c.peers() {
		names = append(names, p.host+wording.InBrackets(p.place))
	}
	if out := q.reached(c); out.Text != "" {
		return out
	}
	if len(names) == 0 {
		return Remedy{Text: prefixed("check whether NetworkPolicies and firewalls let the pod reach its server, and whether that runs: the program may have its address from ", c.givenConfiguration())}
	}
	return Remedy{Text: "check whether the program reaches its server, and whether that was ready when the Job started: " + wording.Enumerate(names[:min(len(names), maxSecrets)], "or")}
}

// Kinds of errors: a change of the pod template resolves those ofTemplate, and most likely not those elsewhere. The local ones are about the
// program's own machine. For those ofArguments, the subject may come from the program's arguments.
var (
	ofTemplate = []ErrorKind{
		ErrorVariable, ErrorSetting, ErrorUsage, ErrorScript, ErrorReadOnly, ErrorPermission, ErrorOwnership, ErrorSharedMemory, ErrorModuleMissing, ErrorRuntimeVersion,
		ErrorLibraryVersion, ErrorClientVersion, ErrorHeapSize, ErrorOutOfMemory, ErrorNoCredentials, ErrorCommandNotFound, ErrorInterpreterMissing, ErrorNotExecutable,
		ErrorWrongArchitecture, ErrorWorkingDirectory, ErrorOtherRoot, ErrorHostKey, ErrorNoCommand, ErrorUserNotFound, ErrorRootUser, ErrorRootAsked, ErrorArguments,
		ErrorSubPath, ErrorMountFails, ErrorMountAtRoot, ErrorPropagation, ErrorSysctl, ErrorCapabilities,
	}
	local       = []ErrorKind{ErrorNoSpace, ErrorSharedMemory, ErrorOutOfMemory, ErrorReadOnly, ErrorPermission}
	ofArguments = []ErrorKind{ErrorFileMissing, ErrorObjectMissing, ErrorNameResolution, ErrorConnectionRefused, ErrorNoConnection, ErrorTimeout, ErrorNoRoute, ErrorCertificate}
	elsewhere   = []ErrorKind{ErrorEarlierState, ErrorRateLimit, ErrorCollective, ErrorServerRules, ErrorWebhook, ErrorConnectionRefused, ErrorNoConnection, ErrorTimeout, ErrorNoRoute}
)

// IsOfTemplate reports whether a change of the pod template resolves the error.
func (e *KnownError) IsOfTemplate() bool { return e != nil && slices.Contains(ofTemplate, e.Kind) }

// IsElsewhere reports whether the cause of the error is most likely not in the pod template.
func (e *KnownError) IsElsewhere() bool {
	isOwn := e != nil && (ownPod.MatchString(e.Subject) || strings.HasSuffix(e.Subject, ofProxy))
	return e != nil && (slices.Contains(elsewhere, e.Kind) && !isOwn || e.Access.HasRule() || e.IsOfObjects() || e.IsOfAPIServer() || e.isPod() ||
		e.Kind == ErrorAuthentication && e.Subject == "" || e.Kind == ErrorRefused && unready.MatchString(e.Reason))
}
