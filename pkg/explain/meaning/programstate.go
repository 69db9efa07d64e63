package meaning

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// stateErrors are errors about what a rerun finds again: a host key, a limit of a service, a variable, and what an earlier run left.
var stateErrors = []errorRow{
	{
		kind:     ErrorHostKey,
		patterns: []errorPattern{{"host key|hosts: key|of host", lazyregexp.New(`(?i)\bhost key (?:verification|validation|check\w*)? ?fail|\bhost key\b.{0,40}\b(?:(?:not|un)\s?known\b|mismatch|(?:has|have|was) changed)|\bno [\w-]+ host key is known\b|(?:^|: )unknown host key|knownhosts: key|authenticity of host`), nil}},
		brief:    "unknown host key",
		text:     "host key verification failed: its known_hosts lacks the key of the server, or has another",
		advice:   "give container {container} a known_hosts file with the host key of the server, such as from a ConfigMap; ssh-keyscan prints the key",
	},
	{
		kind: ErrorRateLimit, brief: "rate limit",
		patterns: []errorPattern{{"rate exceeded|rate limit|toomanyrequests|too many|429|exceeded your current quota|an error occurred (", lazyregexp.New(`(?i:toomanyrequests: (you have reached your (?:\S+ ){1,3}rate limit)|\b((?:api )?rate limit (?:already )?exceeded)\b)|(TOOMANYREQUESTS)|(too many (?:certificates|failed authorizations|new orders|registrations)\b[^:,]*)|(?i:\btoo many requests\b(?: for url: (\S+))?|\bstatus(?: code)?[ =:]+429\b|(?:^|: )(rate exceeded)$)|(You exceeded your current quota)|An error occurred \((SlowDown|Throttling|ThrottlingException|TooManyRequestsException|RequestLimitExceeded)\)`), nil}},
		text:     "a service limits its requests{: %s|}",
		advice:   "wait until the limit is reset, send fewer requests (such as with less parallelism, or with a cache or mirror of what it downloads), or log in with an account that has a higher limit",
	},
	{
		kind: ErrorEarlierState, brief: "earlier state",
		patterns: []errorPattern{
			{"migration|can't locate revision|dirty database|lock|in progress|no deployed releases|cannot be imported|duplicate column|still in use|already |is not clean|but is now", lazyregexp.New(`([mM]igration\b[^.,:;"(]*\b(?:mismatch|has been modified|(?:is|are|was) missing$|missing (?:from|in|on))\b?[^.,;"(]*)|((?:(?:Schema \S+ )?contains|found|has|have|there (?:is|are)|earlier|previous\w*)(?: a)? failed migrations?\b(?: [\w.]+)*)|(no migration found for version \d+)|(MigrationInProgress: .+)|([Aa]nother migration process is currently running)|(Detected (?:applied|resolved) migration not (?:resolved|applied)[\w ]*)|(Can't locate revision identified by '[^']+')|(Dirty database version \d+)|([Cc]ould not acquire [a-z ]*lock\b)|((?:(?:[Tt]he )?(?:\w+ table|database|state|repository|changelog|stack|file|index|queue) is|^(?:it )?is) already locked\b(?: by another \S+ client)?)|(another operation \(install/upgrade/rollback\) is in progress)|("[^"]+" has no deployed releases)|(\S+ "[^"]+"(?: in namespace "[^"]*")? exists and cannot be imported) into|(Duplicate column name '[^']+')|(cannot re-use a name that is still in use)|((?:failed to allocate IP \S+: )?(?:\d+: )?provided \w+ is already allocated)|MongoServerError: (already initialized)|(database is not clean: .+? in schema "[^"]+")|(\S+::\S+::\S+ was: \S+ but is now: \S+)`), nil},
			{"already exists", lazyregexp.New(`(A job instance already exists and is complete)|` + existing + `|ERROR: +((?:relation|column) "[^"]+" (?:of relation "[^"]+" )?already exists)|(Table '[^']+' already exists)|fatal: destination path ('[^']+' already exists)`), nil},
			{"already exists", lazyregexp.New("((?:[A-Za-z]+ )?(?:\"[^\"]+\"|'[^']+'|`[^`]+`|\\[[^\\]]+\\]) already exists)(?:[^,]|$)|((?:[rR]eplica|[sS]napshot|[aA]rchive|[bB]ackup named|[cC]ollection|[bB]ucket|[tT]opic|[dD]atabase|[cC]onnector|[uU]ser|[rR]ole|[nN]amespace|[sS]napshot) (?:with (?:the )?(?:name|identifier|ID) )?(?:\\S+ )?already exists(?:: \\S+)?)"), nil},
		},
		answer: lazyregexp.New("^The (`[^`]+` migration) started at .* failed"),
		read:   readLeftover,
		text:   "{%s|it conflicts with an earlier state}",
		advise: earlierAdvice,
	},
	{
		kind: ErrorUsage, brief: "arguments",
		casual:   true,
		read:     func(e *KnownError, _ string) { e.Subject = strings.ReplaceAll(e.Subject, `\`, "") },
		patterns: usageErrors,
		text:     "a program does not accept its arguments{: %s|}",
		advise:   usageAdvice,
	},
	{
		kind:     ErrorScript,
		patterns: []errorPattern{{"yntax error|ad substitution|set: illegal option -o pipefail|nexpected end of file", lazyregexp.New(`^\S+: (?:-c: )?(?:(?:line )?\d+: )?([Ss]yntax error.*\b[Uu]n(?:expected|terminated)\b.*|(?:\S+: )?[Bb]ad substitution|set: Illegal option -o pipefail|[Uu]nexpected end of file.*)`), nil}},
		brief:    "script",
		text:     "the shell cannot read its script{: %s|}",
		advise:   scriptAdvice,
	},
	{
		kind: ErrorVariable, brief: "variable not set",
		casual: true,
		patterns: []errorPattern{
			{"unbound|not set", lazyregexp.New(shellVariable + `(?:unbound variable|parameter (?:null or )?not set)`), nil},
			{"expected, but not set|keyerror: |key not found: |undefinedvalueerror: | must be set", lazyregexp.New(`environment variable ` + constant + ` expected, but not set|\bKeyError: ['"]` + constant + `['"]|\bkey not found: "` + constant + `"|\bUndefinedValueError: ` + constant + ` not found|\beither ` + constant + ` or [A-Z_]+ must be set`), nil}, // PyTorch, Python, ENV.fetch of Ruby, python-decouple, Spark
			{"set|required|missing|empty|provided|defined", lazyregexp.New(`(?:^|[:!] )["'` + "`" + `]?((?-i:[A-Z][A-Z0-9]*_[A-Z0-9_]+))["'` + "`" + `]? (?:` + envVariable + ` )?(?:is|was|must be|has to be|are) (?:not set|set|required|missing|undefined|empty|unset|not provided|provided|not defined|defined)\b`), nil},
			{"required|missing|defined|set|provided", lazyregexp.New(`(?:^|[:!\]] )["'` + "`" + `]?((?-i:[A-Z][A-Z0-9]*_[A-Z0-9_]+))["'` + "`" + `]?:? (?:` + envVariable + ` )?(?:not set|required|missing|undefined|unset|not provided|not defined)\b`), nil},
			{"env", lazyregexp.New(`\b([a-z][a-z0-9]*(?:_[a-z0-9]+)+) ` + envVariable + ` (?:is )?(?:required|not set|missing|must be set)\b`), nil},
			{"env", lazyregexp.New(`(?i)` + envVariable + ` (?:is )?required but not (?:provided|set): ["']` + constant), nil},                       // dbt
			{"put it in the env['| missing value", lazyregexp.New(`\bput it in the ENV\['(\w+)'\]|required key \\*"?(\w+)\\*"? missing value`), nil}, // Rails, envconfig
			{"env", lazyregexp.New(`(?i)\b` + envVariable + `:? ["'` + "`" + `]?` + constant + `["'` + "`" + `]? ` + isNotSet + `|["'` + "`" + `]?\b` + constant + `["'` + "`" + `]? ` + envVariable + " " + isNotSet + `|(?:missing (?:required )?` + envVariable + `|` + envVariable + ` not (?:found|set|defined)):? ["'` + "`" + `]?` + constant + `["'.!)\]}` + "`" + `]*$|(?:^|[:.!] )(?:please )?set the ` + constant + ` ` + envVariable + `[.!]?$`), nil},
		},
		read: func(e *KnownError, line string) {
			if strings.Contains(line, e.Subject+" env") { // The name is in the words of a program, not of a shell.
				e.Subject = strings.ToUpper(e.Subject)
			}
		},
		text:   "{variable %s|a variable} is not set",
		advise: variableAdvice,
	},
	{
		kind: ErrorSetting, brief: "setting missing",
		patterns: []errorPattern{
			{"could not resolve placeholder |config property |root module input variable | setting must not be empty|application encryption key|failed to configure a datasource: '", lazyregexp.New(`Could not resolve placeholder ['$]\{?([\w.-]+)|The config property (\S+) is required but|The root module input variable "([^"]+)" is not set|The (\w+) setting must not be empty|No (application encryption key) has been specified|Failed to configure a DataSource: '(url)' attribute is not specified`), nil}, // Laravel
			{"secret_key_base", lazyregexp.New("Missing `(secret_key_base)` for"), nil},
		},
		read: func(e *KnownError, _ string) {
			e.Subject = cmp.Or(map[string]string{"url": "spring.datasource.url", "application encryption key": "APP_KEY"}[e.Subject], e.Subject)
		},
		text:   "{setting %s|a setting} has no value",
		advice: "give {%s|it} a value in env of container {container}{sources}, or in the configuration that it reads",
	},
	{
		kind: ErrorObjectMissing, brief: "object missing",
		patterns: []errorPattern{
			{"exist", lazyregexp.New(`\b((?:[Dd]atabase|[Rr]elation|[Tt]able|[Cc]olumn|[Ss]chema|[Rr]ole|[Uu]ser|[Ff]unction|[Tt]ype|[Ee]xtension|[Ii]ndex|[Ss]equence|[Vv]iew|[Cc]onstraint|[Kk]eyspace|[Nn]amespace|[Cc]ollection|[Bb]ucket|[Tt]opic|[Qq]ueue|[Ss]tream|[Tt]enant|[Pp]roject|[Oo]rganization|[Cc]atalog|[Rr]epository|[Ss]tanza|[Rr]ealm|[Gg]roup|[Ee]xchange|[Vv]host|[Ww]arehouse|[Cc]luster|[Oo]bject|[Dd]ictionary|[Ss]lot|[Pp]ublication|[Ss]ubscription|[Tt]ablespace|[Pp]rocedure|[Tt]rigger|[Ss]erver|[Aa]lias|[Pp]olicy|[Tt]emplate|[Pp]ipeline|[Rr]elease|[Vv]olume|[Ss]napshot|[Bb]ackup) \\*["'][^"'\\]+\\*["'](?: of relation "[^"]+"| referenced in foreign key constraint)? (?:does not|doesn't) exist)(?:[^,]|$)|(column [\w.]+ does not exist)|((?:Table|Database) [\w.]+ does(?:n't| not) exist)`), nil},
			{"unknown |no such|invalid object name", lazyregexp.New(`(Unknown (?:database|column|table) '[^']+')|(no such (?:table|column): \S+)|(Invalid object name '[^']+')`), nil},
			{"nosuchbucket", lazyregexp.New(` to (\w+://[^/\s]+)\S* An error occurred \(NoSuchBucket\)`), nil}, // AWS CLI
			{"the specified|s3 bucket", lazyregexp.New(`(The specified (?:bucket|container|key) does not exist|S3 bucket "[^"]+" does not exist)`), nil},
			{"chart ", lazyregexp.New(`(chart \\*"[^"\\]+\\*" (?:matching|version) \S+ not found in (?:\S+ index|\S+ repository))`), nil},
			{"(404) when calling|nosuchbucket", lazyregexp.New(`\b(NoSuchBucket)\b|An error occurred \(404\) when calling the HeadObject operation: (Key "[^"]+" does not exist)?`), nil},
			{"://", lazyregexp.New(`(?:Path does not exist|No such file or directory): ((?:s3a?|gs|gcs|abfss?|wasbs?)://\S*\w)|\b((?:s3a?|gs|gcs|abfss?|wasbs?)://\S+) (?:bucket does not exist|not found$)`), nil},
		},
		yieldsTo: []ErrorKind{ErrorEarlierState, ErrorAuthentication, ErrorFileMissing},
		read:     func(e *KnownError, _ string) { e.Subject = strings.ReplaceAll(e.Subject, `\`, "") },
		describe: objectText,
		advise:   objectAdvice,
	},
	{
		kind: ErrorServerRules, brief: "not allowed",
		patterns: []errorPattern{{"pg_hba.conf|is not allowed to connect", lazyregexp.New(`((?:no pg_hba\.conf entry|pg_hba\.conf rejects connection) for .+)|(Host '[^']+' is not allowed to connect to this \w+)`), nil}},
		read:     func(e *KnownError, _ string) { e.Subject = strings.ReplaceAll(e.Subject, `\`, "") },
		text:     "{%s|the server does not allow its connection}",
		advise: func(e *KnownError, _ Container) string {
			if strings.HasSuffix(e.Subject, "no encryption") {
				return "have the program connect with TLS (PGSSLMODE or sslmode=require in its URL), if the server accepts no unencrypted connection of it; or " + allowConnection
			}
			return allowConnection
		},
	},
}

const allowConnection = "have the server allow the connection (pg_hba.conf, or the host of the user): the address of the pod, the user, the database and the encryption count; or have the program use the user and the encryption (TLS) that it allows"

// variableAdvice names what the container has its environment from.
func variableAdvice(e *KnownError, c Container) string {
	text := fmt.Sprintf("set %s in env of container %s", cmp.Or(e.Subject, "it"), c.Name)
	switch v := c.variable(e.Subject); {
	case e.Subject != "" && strings.Trim(e.Subject, "$0123456789") == "":
		return fmt.Sprintf("give the script its argument %s in command or args of container %s; in a script after -c, the first element after it is $0", e.Subject, c.Name)
	case v != nil && v.From != "":
		return fmt.Sprintf("check %s: it may be empty, or optional and missing", c.placeOf(v))
	case v != nil:
		return fmt.Sprintf("give variable %s of container %s a value in the pod template, which has it with “%s”", v.Name, c.Name, wording.Shorten(v.Value, maxCommand))
	case len(c.Sources) > 0:
		return text + c.sourcesText()
	case len(c.Variables) > 0:
		return text + ", which has other variables but not this one"
	}
	return text + ", which has none"
}

// quotedWord finds a word in quotes.
var quotedWord = lazyregexp.New(`["'‘\x60]([\w][\w.:/-]*)["'’\x60]`)

// neededArguments finds what a program requires.
var neededArguments = lazyregexp.New(`(?i)\brequired: (.+)|required flag\(s\) (.+) not set|^missing (?:option|argument|parameter) (.+)`)

// usageAdvice says where the option is that a program does not accept: in the pod template, or in a script.
func usageAdvice(e *KnownError, c Container) string {
	option := cmp.Or(options.Group(e.Subject), quotedWord.Group(e.Subject))
	if option == "-h" || option == "--help" { // It is a hint.
		option = ""
	}
	for _, argument := range c.Arguments {
		if name, value, isJoint := strings.Cut(argument, " "); isJoint && strings.HasPrefix(name, "-") && strings.Contains(e.Subject, argument) {
			return fmt.Sprintf("give %s and %s as two elements of command or args of container %s: they are one, with a space in it", name, shownValue(name, value), c.Name)
		}
	}
	if text := wrongWord(&Clue{Words: e.Subject}, &c); text != "" {
		return text
	}
	if tooMany.MatchString(e.Subject) {
		return fmt.Sprintf("give the program in container %s as many arguments as it accepts: a value with spaces needs quotes in a script or in a text of arguments, or is one element of args", c.Name)
	}
	if needed := neededArguments.Group(e.Subject); needed != "" {
		return fmt.Sprintf("give container %s in its command or args what its program requires: %s", c.Name, strings.Trim(needed, ` "'.`))
	}
	place, _ := c.origin(option)
	if option != "" && (c.hasArgument(option) || c.hasArgument("-"+option)) { // Go's flags have one or two dashes.
		place = "command or args of container " + c.Name
	}
	if place != "" {
		return fmt.Sprintf("correct or leave out %s in %s; if it is right, its image has another version of the program (%s)", option, place, c.Image)
	}
	if option == "" || len(c.Arguments) == 0 {
		return fmt.Sprintf("correct the arguments (command and args) of container %s; if they are right, its image has another version of the program (image %s)", c.Name, c.Image)
	}
	return fmt.Sprintf("the command of container %s does not have %s: correct the script that it runs, or use another version of its image (%s)", c.Name, option, c.Image)
}

// sourcesText names the ConfigMaps and Secrets of envFrom.
func (c *Container) sourcesText() string {
	return prefixed(", or correct its name in ", wording.Enumerate(c.Sources[:min(len(c.Sources), maxSecrets)], "or"))
}

// bucketURL matches the address of a bucket.
var bucketURL = lazyregexp.New(`^\w+://[^/]*/?$`)

func objectText(subject string) string {
	if bucketURL.MatchString(subject) {
		return "bucket " + subject + " does not exist"
	} else if strings.Contains(subject, "://") {
		return subject + " does not exist"
	}
	return cmp.Or(subject, "what it uses does not exist")
}

// ofDatabase matches what a migration creates in a database, and namedThing any other object with its name.
var (
	ofDatabase = lazyregexp.New(`(?i)^(?:relation|table|column|type|function|schema|index|sequence|extension|view|unknown|no such|invalid|constraint|trigger|operator)\b`)
	namedThing = lazyregexp.New(`^\w+ ["']([^"']+)["']`)
)

// objectAdvice says what creates the object that does not exist.
func objectAdvice(e *KnownError, c Container) string {
	kind, _, _ := strings.Cut(strings.ToLower(e.Subject), " ")
	switch {
	case strings.Contains(e.Subject, "ucket") && !strings.Contains(e.Subject, "://"), strings.Contains(e.Subject, "specified container"), bucketURL.MatchString(e.Subject):
		return fmt.Sprintf("create %s, or correct its name, region or endpoint in container %s", cmp.Or(c.object, "the bucket"), c.Name)
	case strings.HasPrefix(e.Subject, "chart"):
		return fmt.Sprintf("correct the name of the chart, its version or its repository in container %s: helm search repo lists them; the name of the repository is no part of the chart's where the repository is given by its URL", c.Name)
	case strings.HasPrefix(e.Subject, "Key "), strings.Contains(e.Subject, "://"), strings.HasPrefix(e.Subject, "The specified key"), strings.Contains(e.Subject, "NoSuchKey"):
		return fmt.Sprintf("check %s in container %s, and whether what writes the object has run", cmp.Or(c.object, object.FindString(e.Subject), "the key and the bucket"), c.Name)
	case kind == "role" && c.hasArgument("pg_restore"):
		return "create the role on the database server, or restore without owners and privileges (pg_restore --no-owner --no-privileges)"
	case kind == "database", kind == "role", kind == "user", strings.HasPrefix(e.Subject, "Unknown database"):
		return fmt.Sprintf("create it on %s, or correct its name in container %s", cmp.Or(onlyServer(&c), "the database server"), c.Name)
	}
	if m := namedThing.FindStringSubmatch(e.Subject); m != nil && !ofDatabase.MatchString(e.Subject) {
		return fmt.Sprintf("create %s%s before this Job, or correct its name: it comes from %s", m[0], prefixed(" at ", onlyServer(&c)), c.sourceOf(m[1:]))
	}
	return fmt.Sprintf("run what creates it before this Job, such as a migration, or have container %s use the right database and schema", c.Name)
}

// tooMany matches the complaint of Cobra about more arguments than one.
var tooMany = lazyregexp.New(`^accepts (?:at most )?[01] arg\(s\), received \d+$`)

// usageErrors are the messages of libraries that parse arguments.
var usageErrors = []errorPattern{
	{"flag|option|argument|parameter|command", lazyregexp.New(`^(?:[a-z0-9_./-]+(?: [\w-]+)?: |[\w-]+ command )?(?i:<?error>?:? )?((?i:(?:got )?un(?:known|recogni[sz]ed|expected|defined|supported)|in(?:valid|correct)|illegal|missing|no such|bad|too (?:many|few)|required|the following(?: required)?|flag provided|flag needs)(?: [\w/]+){0,2}? ?(?:flag|option|argument|parameter|(?:sub)?command|not defined)(?:s|\(s\))?(?:[:,]? ?(?:\(?[^\sa-z0-9(]|--?[\w]|[\w-]+$|[\w./-]+ (?:for|in command)\b)| (?:for|is|are|was|were|provided|received|not) (?:required|missing|not|needed|--?\w|["'\x60]).*|$).*)`), nil},
	{"error: |arg(s), ", lazyregexp.New(`^\S+(?: \S+)?:? (?:command )?error: (argument \S+: .+)|^Error: (Invalid value for .+)|^Error: (Missing application resource.*)|^(?:Error: )?((?:accepts|requires) (?:at least|at most|exactly|between)? ?\d+ .*\barg.*)|^Error: (provide either [^.]+)`), nil}, // argparse, Click, Cobra
	{" flag", lazyregexp.New(`(invalid argument .+ for \\*"[^"]+" flag)`), nil},                                                                                        // pflag
	{"no attempt", lazyregexp.New(`^(\S+:\d+ - no attempt)$`), nil},                                                                                                    // pg_isready
	{"option", lazyregexp.New(`^\S+: (unrecognized option .+|bad option: .+|invalid option -- .+|option requires an argument .+)|^(Unrecognized VM option '.+)`), nil}, // getopt, Java
}

// Parts of messages about variables. A shell names its script before the variable. A program that uses a default says so after it.
const (
	shellVariable = `\S: (?:line )?(?:\d+: )?([A-Za-z_]\w*|\$?\d): `
	envVariable   = `env(?:ironment)? ?var(?:iable)?s?`
	constant      = `((?-i:[A-Z][A-Z0-9_]+))`
	isNotSet      = `(?:must be set|(?:is |was )?(?:not (?:set|found|defined)|unset|missing|undefined|required))(?: but not set| in [^,]+)?["'.!)\]}]*$`
)

// createdBefore is how to resolve a table, or a part of one, that a migration creates once more.
const createdBefore = "an earlier attempt or another migration created it: mark that step as done in the tool, have the statement accept it (IF NOT EXISTS), or drop it if nothing needs it; until then, a rerun fails again"

const newerImage = "the database has a revision that the image lacks, as a newer image has migrated it: run one that has it, or restore the database"

const unlock = "let the run that holds the lock end; if no run holds it any longer, release the lock with "

// resolutions say how to resolve an earlier state, by a part of the message about it.
var resolutions = []struct{ part, how string }{
	{"no deployed releases", "the release was never installed completely: uninstall it (helm uninstall), and install it again"}, {"Duplicate column", "an earlier attempt, or another migration, has added the column: complete it by hand, or have the migration accept that it exists"},
	{"name that is still in use", "upgrade the Helm release that has the name, or uninstall it: helm list --all shows it, also if its installation failed; if it is stuck in uninstalling, run helm uninstall once more, or delete its Secrets (kubectl get secrets -l owner=helm)"},
	{"relation ", createdBefore}, {"Table ", createdBefore}, {"column ", createdBefore}, {"exists and is complete", "give the job other parameters (such as a date or run.id) if it has to run again: it has succeeded with these, and Spring Batch runs it only once"},
	{"already exists", "find out what created it, such as an earlier run: have the program accept that it exists or use another name, or remove it if nothing needs it; until then, a rerun fails again"},
	{"but is now", "restore the changeset as it was applied, or accept the changed one with validCheckSum or liquibase clear-checksums; until then, a rerun fails again"}, {"has been modified", "use an image with the migration as it was applied, and put its change into another one; until then, a rerun fails again"},
	{"checksum mismatch", "restore the migration as it was applied, or accept the changed one with flyway repair; until then, a rerun fails again"},
	{"statement ", "have the program use no prepared statements (prepareThreshold=0, pgbouncer=true in its URL), or ask the database itself or a pooler in session mode: behind a pooler, sessions share connections"},
	{"failed migrations", "undo or complete the migration that failed, then mark it so with prisma migrate resolve; until then, a rerun fails again"},
	{"locate revision", newerImage}, {"no migration found", newerImage}, {"is missing", newerImage}, {"failed migration to", "undo or complete the migration that failed, then mark it so with flyway repair; until then, a rerun fails again"},
	{"Dirty database", "undo or complete the migration that failed, then set its version with migrate force; until then, a rerun fails again"},
	{"already allocated", "use another address or port than {number}; or, if nothing needs the Service that has it (kubectl get services -A), delete that one"},
	{"Detected ", "use an image that has the migration which the database has, or, if it was removed on purpose, mark it so (flyway repair); until then, a rerun fails again"}, {"already initialized", "have the script call rs.initiate() only if rs.status() fails: the replica set exists, which is what it wants"},
	{"change log lock", unlock + "liquibase release-locks, or set LOCKED to false in table DATABASECHANGELOGLOCK"}, {"igration table is", unlock + "knex migrate:unlock"}, {"the state is", unlock + "terraform force-unlock and its ID"}, {"repository", unlock + "restic unlock (VolSync has spec.restic.unlock for it)"}, {"lock", unlock + "the tool, or where it is kept"},
	{"MigrationInProgress", "if no migration runs anymore, reverse the one that is marked as in progress (snuba migrations reverse --group GROUP --migration-id ID); until then, a rerun fails again"},
	{"igration", "if no migration runs anymore, complete or undo the one that began, and mark it so with the tool; until then, a rerun fails again"}, {"in progress", "wait until the other Helm command ends; if none runs, go back to an earlier release (helm rollback), or uninstall one that was never installed"},
	{"", "find out what uses the name, or use another one"},
}

// earlierAdvice says how to resolve the earlier state.
func earlierAdvice(e *KnownError, c Container) string {
	if e.Leftover.Name != "" {
		return leftoverAdvice(e, c)
	}
	for _, r := range resolutions {
		if strings.Contains(e.Subject, r.part) {
			return wording.Insert(r.how, "{number}", strings.TrimPrefix(strings.Split(e.Subject, ": ")[0], "failed to allocate IP "))
		}
	}
	return ""
}
