package meaning

import "github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"

// ask is advice on errors that are unknown in all but a phrase.
type ask struct {
	phrase *lazyregexp.Regexp
	// advice may have {1} and {2} for the groups of the phrase, and the keys of askedFor.
	advice string
}

// asks are the phrases, those that say more first.
var asks = []ask{
	{lazyregexp.New(`(UnknownTopicOrPartition|does not host this topic-partition|(?i:unknown topic or partition))`), "create the topic before this Job, or have the brokers create topics (auto.create.topics.enable); if it exists, correct its name or the brokers that the program asks: {addresses}"},
	{lazyregexp.New(`(?i)following (?:options?|arguments?|parameters?) (?:is|are) required: (.+)`), "give container {container} in its command or args the options that its program requires: {1}"},
	{lazyregexp.New(`(?i)(?:unable|failed|could not|cannot) (?:to )?connect to (?:the )?(?:DB|database)\b.*\btried (?:default )?(?:DB|databases?)(?: names?)?:? ([\w, -]+)$`), "have the database server let the user of the program connect to one of the databases that it tries ({1}): create one, or grant CONNECT; or create the program's own database by hand, and leave out this step ({connection})"},
	{lazyregexp.New(`(InvalidReplicationFactor|[Rr]eplication factor: .* larger than available brokers)`), "wait until all brokers are registered, or lower the replication factor that the program asks for, which it has from {template}"},
	{lazyregexp.New(`((?:Topic|Group|Cluster|TransactionalId)Authorization(?:Failed|Exception)|Not authorized to access (?:topics?|group))`), "allow this to the user with which the program logs in, by an ACL of the brokers: {credentials}"},
	{lazyregexp.New(`(?i)(ACL not found)`), "give the program a token that the servers know: a Secret that an earlier installation left may have the old one; delete it before a new installation, or bootstrap the ACLs again"},
	{lazyregexp.New(`(READONLY You can't write|NotWritablePrimary|not (?:the )?(?:master|primary) and|cannot execute [A-Z ]+ in a read-only transaction|--read-only option)`), "have the program connect to the primary of the database, as a replica does not accept writes: {addresses}"},
	{lazyregexp.New(`(?i)(database system is (?:starting up|shutting down|in recovery)|not yet accepting connections|LOADING Redis is loading)`), "have the Job wait until the database is ready, such as with an init container, or allow retries (backoffLimit): it was still starting"},
	{lazyregexp.New(`(?i)(lock wait timeout exceeded|deadlock (?:detected|found)|could not serialize access|canceling statement due to (?:lock|statement) timeout|could not obtain lock)`), "run it while no other session holds the lock (pg_stat_activity, SHOW PROCESSLIST show them), or raise the timeout of the session"},
	{lazyregexp.New(`(?i)(is being accessed by other users)`), "end the other sessions of the database first: scale down what uses it, or drop it WITH (FORCE)"},
	{lazyregexp.New(`(?i)extension "([^"]+)" is not available|could not open extension control file "[^"]*/([\w-]+)\.control"`), "use an image of the database server that has extension {1}, or enable it there (a managed database has a list of them)"},
	{lazyregexp.New(`(field is immutable)`), "delete the object that the program changes, or have it replaced (--force): this field of it cannot be changed"},
	{lazyregexp.New(`(?i)remote branch (\S+) not found|couldn't find remote ref (\S+)|pathspec '([^']+)' did not match|reference not found`), "correct the branch or tag that the program asks for: it comes from {template}"},
	{lazyregexp.New(`(?i)(repository '?[^' ]*'? ?not found|remote: not found)`), "correct the address of the repository, or give the program credentials that may see it, as a private one is not found without them: {credentials}"},
	{lazyregexp.New(`(dubious ownership)`), "have Git accept the folder, whose owner is another user: git config --global --add safe.directory, or runAsUser and fsGroup that fit the volume"},
	{lazyregexp.New(`(?i)(server gave HTTP response to HTTPS client|wrong version number|does not look like a TLS handshake|plaintext connection|unsupported or unrecognized SSL message)`), "use http:// for the server, or its port for TLS: it does not speak TLS there ({addresses})"},
	{lazyregexp.New(`(?i)(client sent an HTTP request to an HTTPS server|plain HTTP request was sent to HTTPS port)`), "use https:// for the server, which speaks TLS at that port: {addresses}"},
	{lazyregexp.New(`(?i)(bad certificate|certificate required|no required SSL certificate|handshake failure|alert (?:protocol version|unrecognized name))`), "give the program the client certificate, or the version of TLS, that its server asks for: {configuration}"},
	{lazyregexp.New(`(?i)(No matching distribution found for|ResolutionImpossible|Could not find a version that satisfies)`), "correct the name or version of the package for the Python of the image, or install it when the image of container {container} is built ({image})"},
	{lazyregexp.New(`(?i)missing script: "?([\w:.-]+)`), "correct the name of the script, or use an image whose package.json has {1}; that of container {container} is {image}"},
	{lazyregexp.New(`(ResourceNotFoundException|NoSuchEntity|ParameterNotFound|SecretNotFound|Secrets Manager can't find|no such secret)`), "create what the program asks its cloud for, in the account and region that it uses, or correct its name, which it has from {template}"},
	{lazyregexp.New(`(?i)(must specify a region|could not connect to the endpoint URL|NoRegionError)`), "set the region of the cloud (AWS_REGION or AWS_DEFAULT_REGION) in env of container {container}, or correct it and the endpoint"},
	{lazyregexp.New(`(?i)(API has not been used in project|SERVICE_DISABLED)`), "enable that API in the project of the cloud, then wait some minutes"},
	{lazyregexp.New(`(?i)(vault is sealed)`), "unseal Vault, or find out why it was sealed (a restart without auto-unseal)"},
	{lazyregexp.New(`(?i)(no handler for route)`), "enable the secrets engine at that path of Vault, or correct the path"},
	{lazyregexp.New(`(?i)(address already in use|EADDRINUSE|port is already allocated)`), "use another port: another process of the pod listens there, or of its node if the pod has hostNetwork"},
	{lazyregexp.New(`index_not_found_exception.*?\[([^\]]+)\]|no such index \[([^\]]+)\]`), "create index {1} first, or correct its name, or have the program accept that there is none yet"},
	{lazyregexp.New(`no matches for kind \\?"([^"\\]+)\\?" in version \\?"([^"\\]+)`), "install what defines {1} (its CustomResourceDefinition) before this Job, or use a version of the program for the versions that the cluster serves (kubectl api-resources); {2} is not one of them"},
	{lazyregexp.New(`(?:\(NotFound\): |\bnot found: |: )?\b([a-z]+(?:\.[a-z0-9.-]+)?) \\?"([^"\\]+)\\?" not found`), "create {2} ({1}) in the namespace where the program looks for it, or correct the name, which it has from {template}"},
	{lazyregexp.New(`SchemaError\(([^)]+?)(?:\.[A-Z]\w*)*\)`), "repair or remove the API whose schema is broken, {1} (kubectl get apiservices shows who serves it)"},
	{lazyregexp.New(`(permission denied (?:for|to) (?:schema|table|relation|database|sequence|function|view|create|set)\b[^;,]*|must be (?:owner of|superuser)[^;,]*)`), "have the owner of the database or schema grant it to the user with which container {container} logs in (GRANT, or ALTER … OWNER TO; since PostgreSQL 15, schema public needs it), or use a user that may"},
	{lazyregexp.New(`(?i)(too many (?:clients|connections)|remaining connection slots)`), "free connections of the database, or raise their maximum (max_connections), or have the program use a pooler"},
	{lazyregexp.New(`(?i)(duplicate key value violates|violates (?:foreign key|unique|check|not-null) constraint|is violated by some row|Duplicate entry)`), "correct the data that the constraint does not allow, or the program that writes them: a rerun meets them again"},
	{lazyregexp.New(`(?i)\b(anonymous (?:users?|caller)|please authenticate|no (?:api )?(?:token|credentials|password)\b|(?:missing|invalid|empty) (?:\w+ ){0,2}(?:credentials|token|password|api[ _-]?key)|authentication required|(?:token|password|user ?name|api[ _-]?key) (?:is |was )?(?:missing|required|empty|not (?:set|provided)))`), "give the program the credentials that its server asks for: {credentials}"},
	{lazyregexp.New(`(?i)(didn't find section in config file|config(?:uration)? file .{0,80}not found|no configuration (?:file |has been )?(?:found|provided)|(?:unable|failed) to (?:load|find) (?:the )?(?:config|kubeconfig))`), "give the program its configuration where it looks for it: it may be meant to come from {configuration}"},
	{lazyregexp.New(`(?:must be|of type) .*(?:got|[Rr]eceived) "?(?:undefined|null|None)`), "set the value that the program lacks: a variable in env of container {container} that the template does not have"},
	{lazyregexp.New(`(?i)(cannot unmarshal|did not find expected|error (?:parsing|decoding)|unable to parse|could ?n[o']t parse|failed to (?:parse|decode|unmarshal)|unexpected (?:token|end of JSON)|invalid character|mapping values are not allowed)`), "correct what the program cannot read: it comes from {configuration}"},
	{lazyregexp.New(`the server doesn't have a resource type \\?"([^"\\]+)`), "install what defines {1} (its CustomResourceDefinition) before this Job, or correct the name: kubectl api-resources lists what the cluster serves"},
	{lazyregexp.New(`timed out waiting for the condition on (\S+/\S+)`), "find out why {1} does not become what the program waits for (kubectl describe {1}), or have it wait longer (--timeout)"},
	{lazyregexp.New(`(?i)(SSL is required, but the server does not support it|server does not support SSL)`), "enable TLS at the database server, or have the client connect without it (sslmode=disable; --skip-ssl of MariaDB's clients), as far as the network may be trusted"},
	{lazyregexp.New(`(?i)(require_secure_transport|SSL connection is required|insecure transport)`), "have the program connect with TLS: the server accepts nothing else"},
	{lazyregexp.New(`(?i)(authentication plugin \S+ (?:cannot be loaded|is not supported)|authentication method (?:unknown|not supported)|SCRAM authentication requires)`), "use a newer client, in another image of container {container} ({image}), or give the user another authentication method at the server"},
	{lazyregexp.New(`(?i)(cannot connect to the docker daemon)`), "run no Docker client in this pod: its node has no such daemon at that socket; build images with a tool that needs none, or add a docker:dind sidecar and set DOCKER_HOST"},
	{lazyregexp.New(`(?i)(flood[- ]stage|read-only[ -/]+allow[- _]delete|cluster_block_exception)`), "free disk space of the search cluster, or give it more, then remove its block on writes (index.blocks.read_only_allow_delete)"},
	{lazyregexp.New(`(?i)((?:service account name|namespace) not authorized)`), "have the role of Vault allow this ServiceAccount and namespace (bound_service_account_names, bound_service_account_namespaces)"},
	{lazyregexp.New(`(?i)(too many open files)`), "raise the limit on open files (ulimit -n in the container, or the runtime's on the node), or have the program open fewer"},
	{lazyregexp.New(`(?i)(unexpected end of file|not in gzip format|invalid (?:compressed data|tar header|header)|checksum (?:error|mismatch)|unexpected EOF)`), "get the file again that the program reads: it is cut off, or of another format"},
	{lazyregexp.New(`(?i)(DB::Exception: .*\b(?:is not allowed|not supported|unknown (?:setting|function|data type|codec)|is disabled|experimental)\b)`), "use versions of ClickHouse and of the program that fit: that of container {container} is {image}; a setting of the server may allow the statement, too"},
	{lazyregexp.New(`(?i)(error in your SQL syntax|DB::Exception: Syntax error|syntax error at or near)`), "use an image whose statements fit the kind and the version of the database; that of container {container} is {image}"},
	{lazyregexp.New(`(?i)(\S+) (?:is )?not installed\b`), "use an image for container {container} that has {1}; its image is {image}"},
	{lazyregexp.New(`(?i)(pending migrations|database is not up[- ]to[- ]date)`), "run the migrations that are pending, or complete those that an earlier run began, before this step"},
	{lazyregexp.New(`(failure policy is 'abort')`), "uninstall the failed release, or have it installed again (failurePolicy: reinstall of the HelmChart), once its first failure is resolved"},
	{lazyregexp.New(`(?i)(repository (?:is )?not initiali[sz]ed|is there a repository at)`), "initialize the repository with the program first, or correct its address and credentials: {credentials}"},
	{lazyregexp.New(`(?i)(manifest[_ ]unknown)`), "correct the name, tag or digest of the image that the program asks its registry for"},
	{lazyregexp.New(`(iptables.*(?i:permission denied|not permitted))`), "let container {container} run as root with capabilities NET_ADMIN and NET_RAW, or set up the pod's network by the mesh's CNI plugin instead"},
	{lazyregexp.New(`\b([\w.-]+(?: "[^"]+")?) is invalid: ([\w.\[\]]+):`), "use a version of the program whose objects the API server accepts, or correct {2} of {1}"},
	{lazyregexp.New(`(values don't meet the specifications)`), "correct the values that the schema of the chart does not accept: the log names them"},
	{lazyregexp.New(`(?i)((?:Unsupported Database: |The engine \S+ is incompatible))`), otherVersion},
	{lazyregexp.New(`(?i)(unsupported\S*(?: \w+)? version|not a supported|is not supported (?:by|in) (?:this )?(?:server |version)|(?:requires?|needs?) (?:at least )?version|version .{1,40}(?:is not supported|is too old|is required|unsupported)|incompatible with|not compatible with)`), otherVersion},
	{lazyregexp.New(`(?i)(?:timed? ?out|timeout)\b[^.;]{0,40}?\b(?:after|of|in|within|exceeded|reached)\W{1,3}(\d+ ?(?:ms|milliseconds|s|secs?|seconds|m|min|minutes))\b`), "find out what the program waited for ({addresses}), or give it more than {1}, by its own option for that"},
	{lazyregexp.New(`(?i)(context deadline exceeded)$`), "give the program more time, by its own option for that, or find out what it waits for"},
	{lazyregexp.New(`(nil pointer dereference|close of closed channel|all goroutines are asleep|panicked at|index out of range|NullPointerException|'NoneType' object|Cannot read propert|is not a function$|undefined method .* for nil|core dumped)`), "run another version of image {image}: the program failed because of a fault of its own, or of an input that it does not expect"},
}

const otherVersion = "use an image whose program fits the version of what it works with; that of container {container} is {image}"
