package meaning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Remedy is advice on an error of a program.
type Remedy struct {
	Text string
	// OfTemplate reports whether the pod template has to change, OfMemory its memory limit, and Elsewhere whether its cause is most likely not there.
	OfTemplate, OfMemory, Elsewhere bool
	// Server is the host of the server whose log has the cause, "" for other errors.
	Server string
}

// peer is a server that a program works with: its host, and where the pod template names it; both may be unknown. Product is what it runs.
type peer struct{ host, place, product string }

// name returns the host with its product, or the one of them that is known.
func (p *peer) name() string {
	switch {
	case p.host == "" && p.product == "":
		return "the server"
	case p.host == "":
		return "the " + p.product + " server"
	case p.product == "" || strings.Contains(strings.ToLower(p.host), strings.ToLower(p.product)):
		return wording.Shorten(p.host, maxDetail)
	}
	return wording.Shorten(p.host, maxDetail) + wording.InBrackets(p.product)
}

// check is advice on a server that does not do what the program asks of it; or is an alternative, or "".
func (p *peer) check(or string) string {
	text := "check whether " + p.name() + " is ready, and read its log"
	if apiServer.MatchString(p.host) {
		text = "check what the API server (" + p.host + ") answers to this request, such as with kubectl get --raw"
	} else if isExternal(p.host) {
		text = "check whether the pod may reach " + p.name() + ", which is outside of the cluster, and whether that works"
	}
	if text += or; p.place != "" {
		text += "; if the program needs another server, correct " + p.place
	}
	return text
}

// product is a program that Jobs work with: what is in its errors, and in the names of its hosts and of variables for them; isWeb reports
// whether it answers with a status of HTTP.
type product struct {
	name          string
	isWeb         bool
	words, places *lazyregexp.Regexp
}

var products = []product{
	{"ClickHouse", true, lazyregexp.New(`(?i)clickhouse|\bDB::Exception`), lazyregexp.New(`(?i)clickhouse`)},
	{"PostgreSQL", false, lazyregexp.New(`(?i)postgres|psycopg|\bpsql\b|PSQLException|\bPG::|\bpg_|\bpgx|npgsql|\b(?:ERROR|FATAL|PANIC):  |\bpq: `), lazyregexp.New(`(?i)postgres|(?:^|[^a-z])(?:pg|db)|database|datasource`)},
	{"MySQL", false, lazyregexp.New(`(?i)mysql|mariadb|\bERROR \d{4} \(|\bGot error: \d{4}|\bError \d{4} \(\w{5}\)`), lazyregexp.New(`(?i)mysql|mariadb|(?:^|[^a-z])db|database|datasource`)},
	{"SQL Server", false, lazyregexp.New(`(?i)SqlClient|SQL Server|mssql`), lazyregexp.New(`(?i)sql|(?:^|[^a-z])db|database|connectionstring`)},
	{"Oracle", false, lazyregexp.New(`\bORA-\d{5}`), lazyregexp.New(`(?i)oracle|(?:^|[^a-z])(?:ora|db)|database|datasource`)},
	{"MongoDB", false, lazyregexp.New(`(?i)mongo`), lazyregexp.New(`(?i)mongo`)},
	{"Redis", false, lazyregexp.New(`(?i)redis|\bCLUSTERDOWN\b|\(error\) `), lazyregexp.New(`(?i)redis|valkey`)},
	{"Elasticsearch", true, lazyregexp.New(`(?i)elasticsearch|opensearch|master_not_discovered|_exception: `), lazyregexp.New(`(?i)elastic|opensearch|(?:^|_)ES(?:_|$)`)},
	{"Kafka", false, lazyregexp.New(`(?i)kafka|^Error while executing \w+ command`), lazyregexp.New(`(?i)kafka|broker|bootstrap`)},
	{"RabbitMQ", false, lazyregexp.New(`(?i)rabbit|\bamqp|PRECONDITION_FAILED|NOT_FOUND - no|ACCESS_REFUSED`), lazyregexp.New(`(?i)rabbit|amqp`)},
	{"Cassandra", false, lazyregexp.New(`(?i)cassandra|\bcql\b|scylla|\bcode=2\d00`), lazyregexp.New(`(?i)cassandra|scylla`)},
	{"Keycloak", true, lazyregexp.New(`(?i)keycloak|\bd\.a\.k\.`), lazyregexp.New(`(?i)keycloak`)},
	{"Vault", true, lazyregexp.New(`(?i)vault`), lazyregexp.New(`(?i)vault`)},
	{"etcd", false, lazyregexp.New(`\betcdserver\b`), lazyregexp.New(`(?i)etcd`)},
	{"MinIO", true, lazyregexp.New(`(?i)minio|\bmc: `), lazyregexp.New(`(?i)minio|(?:^|_)S3`)},
}

var (
	// urlServer matches the server of a URL, noServerURL the schemes of URLs that have none, hostAndPort a value that is one, and
	// connectionPart the one in a list of names and values.
	urlServer      = lazyregexp.New(`(?:\b[a-z][\w+.-]*://(?:[^\s/@"']*@)?|:thin:@(?://)?)\(?([a-zA-Z][\w.-]*\w(?::\d+)?|\d+\.\d+\.\d+\.\d+(?::\d+)?)`)
	noServerURL    = lazyregexp.New(`\b(?:s3a?|gs|gcs|file|abfss?|wasbs?|hdfs|classpath|filesystem|azure|oci|docker)://\S*|\bhttps?://(?:console|docs)\.\S*`)
	hostAndPort    = lazyregexp.New(`^([a-zA-Z][\w.-]*:\d{2,5})(?:,|$)`)
	connectionPart = lazyregexp.New(`(?i)(?:^|[; ])(?:server|data source|host)=([a-z][\w.-]*)`)
	// hostVariable matches the names of variables, and hostOption the options, whose values are hosts.
	hostVariable = lazyregexp.New(`(?:^|_)(?:HOST(?:NAME)?S?|SERVERS?|ADDR(?:ESS(?:ES)?)?|ENDPOINTS?|BROKERS?)$`)
	hostOption   = lazyregexp.New(`^(?:-h|-H|-S|--(?:[\w-]+[_-])?(?:host(?:name)?|server|endpoint|ep|address|addr|brokers?))$`)
	hostName     = lazyregexp.New(`^[a-z][\w.-]*$`)
	// noPeer matches options that are about no other server, and noName values that are no host.
	noPeer = lazyregexp.New(`^--(?:enable|disable|no|with|without|skip|start|use|virtual|bind|listen|metrics|from)[_-]`)
	noName = lazyregexp.New(`^(?:true|false|yes|no|on|off|all|any|none|auto)$`)
	// proxyVariable matches variables about all servers.
	proxyVariable = lazyregexp.New(`(?i)proxy`)
)

// hostIn returns the server of the first URL in a text that has one, "" without any.
func hostIn(text string) string { return urlServer.Group(noServerURL.ReplaceAllString(text, "")) }

// peers returns the servers that the pod template names for a container, outside of its pod.
func (c *Container) peers() (all []peer) {
	add := func(host, place string) {
		if host != "" && !ownPod.MatchString(host) && !slices.ContainsFunc(all, func(p peer) bool { return p.host == host }) {
			all = append(all, peer{host: host, place: place})
		}
	}
	for i := range c.Variables {
		v := &c.Variables[i]
		host := cmp.Or(hostIn(v.Value), hostAndPort.Group(v.Value), connectionPart.Group(v.Value))
		if host == "" && hostVariable.MatchString(v.Name) && hostName.MatchString(v.Value) {
			host = v.Value
		}
		if !proxyVariable.MatchString(v.Name) {
			add(host, "variable "+v.Name+" of container "+c.Name)
		}
	}
	for i, argument := range c.Arguments {
		for _, m := range urlServer.FindAllStringSubmatch(noServerURL.ReplaceAllString(argument, ""), -1) {
			add(m[1], c.inArguments())
		}
		option, value, isOne := strings.Cut(argument, "=")
		if !isOne && i > 0 {
			option, value = c.Arguments[i-1], argument
		}
		if add(hostAndPort.Group(value), c.inArguments()); namesPeer(option, value) {
			add(value, c.inArguments())
		}
	}
	for _, server := range c.Servers {
		add(server, "")
	}
	return all
}

// namesPeer reports whether the value of an option is the name of a server.
func namesPeer(option, value string) bool {
	return hostOption.MatchString(option) && hostName.MatchString(value) && !noPeer.MatchString(option) && !noName.MatchString(value)
}

// onlyServer names the server of the template, "" if that names none or several.
func onlyServer(c *Container) string {
	if all := c.peers(); len(all) == 1 {
		return all[0].name()
	}
	return ""
}

// label returns the first part of the name of a host, "" if it is an address or too short to be a word.
func (p *peer) label() string {
	const least = 3
	label, _, _ := strings.Cut(p.host, ".")
	if label, _, _ = strings.Cut(label, ":"); len(label) < least || !hostName.MatchString(strings.ToLower(label)) {
		return ""
	}
	return strings.ToLower(label)
}

// webServer returns the server that answered with a status of HTTP.
func (q *Clue) webServer(c *Container) peer {
	_, host := q.status()
	host = cmp.Or(hostIn(q.url(c)), host)
	found, named := q.server(c)
	if !named && found.product == "" && found.isOf(func(of *product) bool { return !of.isWeb }) {
		found = peer{}
	}
	if host != "" {
		found = peer{host: host}
	}
	return found
}

// server returns the server that the error is about: the one of the template that it names, or that runs the product which it names; the
// one to which the log says that the program connected; or the only one of the template. What is unknown of it is "".
func (q *Clue) server(c *Container) (found peer, named bool) {
	all := c.peers()
	if p := lists.First(all, q.names); p != nil {
		return *p, true
	}
	if host := hostIn(q.Words); host != "" && !ownPod.MatchString(host) {
		return peer{host: host}, true
	}
	found.product = q.product()
	switch p := lists.First(all, func(p *peer) bool { return p.isOf(func(of *product) bool { return of.name == found.product }) }); {
	case p != nil:
		found.host, found.place = p.host, p.place
	case q.connected() != "":
		found.host = q.connected()
	case len(all) == 1 && (found.product == "" || !all[0].isOf(func(*product) bool { return true })):
		found.host, found.place = all[0].host, all[0].place
	}
	return found, false
}

// names reports whether the error names the server.
func (q *Clue) names(p *peer) bool {
	host, _, _ := strings.Cut(p.host, ":")
	return hasWord(q.Words, host) || p.label() != "" && hasWord(strings.ToLower(q.Words), p.label())
}

// product returns the product that the error names, "" without any.
func (q *Clue) product() string {
	return cmp.Or(lists.First(products, func(p *product) bool { return p.words.MatchString(q.Words) }), &product{}).name
}

// connected returns the server to which the program connected, as its log says; "" if it does not.
func (q *Clue) connected() string {
	for _, line := range q.Log {
		host := addressInLine.Group(ownEnd.ReplaceAllString(line, ""))
		if strings.Contains(strings.ToLower(line), "connect") && host != "" && !sourceLine.MatchString(host) && !ownPod.MatchString(host) {
			return q.nameOf(host)
		}
	}
	return ""
}

// nameOf returns the host that the log names with the port of an address, or the address.
func (q *Clue) nameOf(host string) string {
	if !address.MatchString(host) {
		return host
	}
	_, port, _ := strings.Cut(host, ":")
	for _, line := range q.Log {
		named := addressInLine.Group(ownEnd.ReplaceAllString(line, ""))
		if strings.HasSuffix(named, ":"+port) && !address.MatchString(named) && !ownPod.MatchString(named) && !sourceLine.MatchString(named) {
			return named
		}
	}
	return host
}

// isOf reports whether the name of the host, or of its variable, names a product of this kind.
func (p *peer) isOf(kind func(*product) bool) bool {
	return lists.First(products, func(of *product) bool {
		return kind(of) && (of.places.MatchString(p.host) || of.places.MatchString(p.place))
	}) != nil
}

// hasWord reports whether a text has a word that is no part of a longer one.
func hasWord(text, word string) bool {
	before, after, found := strings.Cut(text, word)
	return found && word != "" && !endsInWord(before) && !startsWithWord(strings.TrimLeft(after, "."))
}

// serverError matches the errors with which servers answer, in the words of their clients.
var serverError = lazyregexp.New(`\bDB::Exception\b|\bSQLSTATE\b|\bP?SQL\w*(?:Exception|Error)\b|\bSqlException\b|\bPG::\w+|\bpsycopg\d?\.|\bOperationalError\b|\bDatabase(?:Error|Exception)\b|\bServerError\b|` +
	`\[PostgreSQL error\]|\b(?:ERROR|FATAL|PANIC):  |\bpq: |\bORA-\d{5}|\b(?:ERROR|Error) \d{4} \(|\bMongo\w*Error\b|\bQueryFailedError\b|\bsyntax error at or near|\berror in your SQL syntax|no viable alternative at input|\bSequelizeDatabaseError\b|\((?:SQLSTATE )?42\w{3}\)|\bservererrors\.|\bCLUSTERDOWN\b|\(error\) [A-Z]{3,}|\bRe(?:sponse|ply)Error: \w|\betcdserver\b|\bXMinio\w+|\bmaster_not_discovered|\bcode: \d{2,4}, message: |` +
	"\\bPRECONDITION_FAILED\\b|\\bErrors?(?: from server:)? code=2\\d00\\b|\\.cql:\\d+:\\w+: |\\bkafka\\.common\\.errors\\.(?:Invalid|Policy|Unsupported)\\w+Exception: |^Error while executing \\w+ command ?: |\\b\\d{3} [a-z]+(?:_[a-z]+)+_exception: ")

// ofFile matches errors of a database in a file, which has no server, isOutside words about another program, and ofItself what servers say about
// their own state; other answers are about what a program asks of them.
var (
	ofItself = lazyregexp.New(`(?i)memory|\bdis[ck]|\bspace\b|input/output|corrupt|internal|time(?:d ?)?out|starting|shut(?:ting)? ?down|recover|crash|unavailable|not available|read-?only|\breplicas?\b|zookeeper|coordination|keeper|too many parts|broken|invalid page|missing chunk|checkpoint|no leader|\blocked\b|deadlock|lock wait|cluster|quorum|(?:could not|unable to) (?:open|read|write|access|extend|fsync|load) |closed|terminat|\blost\b|etcdserver|raft|abort|interrupt|not ready|connecting|connection (?:was|to|tries)|\bWAL\b|lost|maximum|\blimit|XMinio|unknown (?:error|exception)|std::|cache lookup`)
	ofFile   = lazyregexp.New(`(?i)sqlite|database (?:table )?is locked|unable to open database file|readonly database`)
	// ownWork matches what a server could not do, and ofStatement what it could not because of a statement.
	ownWork     = lazyregexp.New(`(?i)(?:^|: )(?:cannot|can't|could not|unable to|failed to) (\w+)`)
	ofStatement = lazyregexp.New(`(?i)^(?:drop|add|alter|create|delete|truncate|insert|update|cast|convert|change|rename|use|be|execute|parse|find|resolve|set|determine|compare|coerce|perform|enlarge|assign|grant)$`)
	isOutside   = lazyregexp.New(`(?i)\b(?:server|response|respond\w*|answer\w*|reply|replied|connect\w*|request|retr(?:y|ies)|fetch\w*|download\w*|upload\w*|unavailable|unreachable)\b`)
)

// failedServer is the clue of an error of a server: what it answers, or that it does not answer.
func failedServer(q *Clue, c *Container) Remedy {
	found, named := q.server(c)
	code, _ := q.status()
	answer := q.Words[len(beforeAnswer.FindString(q.Words)):]
	silent := noServer.MatchString(answer)
	switch {
	case serverError.MatchString(q.Words) && !ofFile.MatchString(q.Words):
		return q.answered(&found, answer, c)
	case strings.HasPrefix(code, "5") && (status.MatchString(q.Words) || !silent && isOutside.MatchString(q.Words)):
		return q.failedWebServer(code, c)
	case found.host != "" && (silent || named && isOutside.MatchString(q.Words)):
		return found.remedy(found.check(""))
	}
	return Remedy{}
}

// answered returns the remedy for an answer of a server; empty for one to a login, about which a later clue has advice.
func (q *Clue) answered(of *peer, answer string, c *Container) Remedy {
	switch {
	case refusedLogin.MatchString(answer), !noServer.MatchString(answer) && q.ownAdvice(c).isExact: // What the program advises says more.
		return Remedy{}
	case noServer.MatchString(answer):
		return of.remedy(of.check(", or give the program more time for it, by its own option"))
	case !ofItself.MatchString(answer) && (ownWork.Group(q.Words) == "" || ofStatement.MatchString(ownWork.Group(q.Words))):
		return q.refused(of, c)
	}
	return of.remedy(wording.Insert(ofServer, "{server}", of.name()))
}

// failedWebServer returns the remedy for a server that answers with a status of HTTP which says that it failed.
func (q *Clue) failedWebServer(code string, c *Container) Remedy {
	found := q.webServer(c)
	if isExternal(found.host) {
		return Remedy{Text: fmt.Sprintf("try again later, or get it from a mirror or a copy of your own: %s, outside of the cluster, answers with an error of its own (%s)", found.name(), code), Elsewhere: true}
	}
	return found.remedy(wording.Insert(ofServer, "{server}", found.name()))
}

var (
	// lineOfSQL matches a line of a file with statements, as clients name it, and stdinLine one of their input, which fromFile matches.
	lineOfSQL = lazyregexp.New(`(/\S+\.(?:sql|cql|psql|ddl)):(\d+):`)
	stdinLine = lazyregexp.New(`\bat line (\d+)\b`)
	fromFile  = lazyregexp.New(`< ?(/\S+)`)
	// beforeAnswer matches what a client writes before the answer of PostgreSQL, noConnection an answer to a login, and inCommand an option with a statement.
	beforeAnswer = lazyregexp.New(`^.*\b(?:ERROR|FATAL): `)
	noConnection = lazyregexp.New(`\bFATAL: |startup parameter|\bORA-(?:12|28)\d{3}|Cannot open database`)
	inCommand    = lazyregexp.New(`(?:^| )(?:-[ceqQ]|--(?:eval|query|command|execute))[ =]`)
	// refusedLogin matches an answer to a user who may not log in, and absent one about something that the server does not have.
	refusedLogin = lazyregexp.New(`(?i)\bauthenticat\w+|\bpassword\b`)
	absent       = lazyregexp.New(`(?i)(?:does not|doesn't) exist|\b(?:undefined|unknown)(?:table|object|column|function|schema|topic|database|keyspace)`)
	// requests are what programs send to servers that have no statements.
	requests = map[string]string{"MongoDB": "command", "Redis": "command", "Elasticsearch": "request", "Kafka": "request", "RabbitMQ": "request", "etcd": "request", "MinIO": "request"}
)

// refused is advice on what a server does not accept: a statement, with the place that the error or the log has, or a connection.
func (q *Clue) refused(of *peer, c *Container) Remedy {
	what, file, line := "the "+cmp.Or(requests[of.product], "statement")+prefixed(" of ", q.Step), fromFile.Group(strings.Join(c.Arguments, " ")), stdinLine.Group(q.Words)
	if m := lineOfSQL.FindStringSubmatch(q.Words); m != nil {
		file, line = m[1], m[2]
	}
	in, inArguments := mountOf(file, c.Mounts), ""
	if inCommand.MatchString(strings.Join(c.commands(), "\n")) {
		inArguments = c.inArguments()
	}
	switch {
	case absent.MatchString(q.Words):
		return of.remedy("create what it lacks at " + of.name() + " before this Job, or correct its name, the database or the schema: " + cmp.Or(c.connection(), c.addresses(), c.argumentsText()))
	case noConnection.MatchString(q.Words):
		return of.remedy("have " + of.name() + " accept the connection, or correct the database, the user or the options with which the program connects: " + cmp.Or(c.connection(), c.addresses(), c.argumentsText()))
	case file != "" && line != "":
		what = "line " + line + " of " + file + wording.InBrackets(in.place(*c))
	default:
		what += ", which comes from " + cmp.Or(c.fixedMounts(), inArguments, "image "+c.Image) + ","
	}
	return Remedy{Text: "correct " + what + " for the version and the data of " + of.name() + ", which does not accept it", Elsewhere: in != nil, OfTemplate: in == nil}
}

// remedy returns advice about the server.
func (p *peer) remedy(text string) Remedy { return Remedy{Text: text, Elsewhere: true, Server: p.host} }

// ofPeer returns the remedy for a connection that failed, if the error has only the address of the server and the template its name; empty
// for other errors.
func (e *KnownError) ofPeer(q *Clue, c *Container) (none Remedy) {
	isAddress := address.MatchString(e.Subject) && !ownPod.MatchString(e.Subject) && !e.IsOfAPIServer()
	if !slices.Contains([]ErrorKind{ErrorConnectionRefused, ErrorNoConnection, ErrorTimeout, ErrorNoRoute}, e.Kind) || !isAddress && e.Subject != "" {
		return none
	}
	_, port, _ := strings.Cut(e.Subject, ":")
	found, _ := q.server(c)
	for _, p := range c.peers() {
		if port != "" && strings.HasSuffix(p.host, ":"+port) {
			found = p
		}
	}
	_, known, _ := strings.Cut(found.host, ":")
	if found.host == "" || address.MatchString(found.host) || port != "" && known != "" && known != port {
		return none
	}
	return found.remedy(found.check(""))
}

// migrates matches the names and commands of programs that create what a database lacks.
var migrates = lazyregexp.New(`(?i)migrat|schema|db[:_-](?:init|setup|prepare|seed)|alembic|flyway|liquibase|bootstrap`)

// ofExtension matches types and functions of PostgreSQL that extensions have, and extensions the names that differ.
var (
	ofExtension = lazyregexp.New(`(?i)^type \\?"?(?:\w+\.)?(citext|hstore|ltree|cube|vector|geometry|geography)\b|^function (?:\w+\.)?(uuid_generate_v\d\w*|st_\w+|similarity|unaccent|crypt|gen_salt)\b`)
	extensions  = map[string]string{"geometry": "postgis", "geography": "postgis", "similarity": "pg_trgm", "crypt": "pgcrypto", "gen_salt": "pgcrypto", "uuid_generate_v4": `"uuid-ossp"`, "uuid_generate_v1": `"uuid-ossp"`}
)

// ofMigration returns the remedy for something that a database lacks, of a program that should create it itself; empty for other errors.
func (e *KnownError) ofMigration(q *Clue, c *Container) (none Remedy) {
	if name := ofExtension.Group(e.Subject); e.Kind == ErrorObjectMissing && name != "" {
		return Remedy{Text: fmt.Sprintf("create the extension that has it in the database, as a user who may (CREATE EXTENSION %s): a role without superuser may not create each of them, and a server may have to install it first", cmp.Or(extensions[strings.ToLower(name)], name)), Elsewhere: true}
	}
	kind, _, _ := strings.Cut(strings.ToLower(e.Subject), " ")
	if e.Kind != ErrorObjectMissing || !slices.Contains([]string{"table", "relation", "column", "no", "unknown", "type", "index", "view", "schema"}, kind) ||
		strings.HasPrefix(e.Subject, "Unknown database") || !migrates.MatchString(c.Name+" "+strings.Join(c.Arguments, " ")) {
		return none
	}
	found, _ := q.server(c)
	text := "container " + c.Name + " is the migration that creates it: look at " + found.name() + ", where an earlier step may have failed, or run on another server, database or schema" + wording.InBrackets(c.connection())
	return found.remedy(text)
}
