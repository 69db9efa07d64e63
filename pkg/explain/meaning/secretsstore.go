package meaning

// secretsStores are messages of the Secrets Store CSI driver and its providers.
var secretsStores = []row[TroubleKind]{
	{
		kind: SecretsStore, yieldsTo: []TroubleKind{StorageUnknown, SecretsStoreUnknown, SecretsStoreDenied, SecretsProvider, ObjectMissing},
		patterns: re(`failed to mount secrets store objects.*(?P<detail>Code: \d+\. Errors: .+)`, `failed to mount secrets store objects|error mounting secret\b|failed to get objectType:`),
		keepsEnd: true, brief: "secrets store",
		text:   "the secrets store for {volume} failed",
		advice: "check {class} of the volume, and what the pod's service account may read in the store{?; mounting is retried automatically}",
	},
	{
		kind: SecretsStoreDenied,
		patterns: re(`failed to mount secrets store objects.*(?P<detail>User: \S+ is not authorized to perform: \S+ on resource: \S+)`,
			`failed to (?:mount secrets store objects|get objectType:).*(?P<detail>does not have secrets get permission on key vault '[^';]+)`,
			`(?P<detail>objectType:\w+, objectName:[^,\s]+),.*(?:\bStatus(?:Code)?=403|Caller is not authorized)`,
			`failed to mount secrets store objects.*(?P<detail>An IAM role must be associated with service account(?: [-.\w]+)?)`),
		brief:  "secrets store denied",
		text:   "the secrets store for {volume} denied access",
		advice: "give the identity of the pod's ServiceAccount (its IAM role or workload identity), or the one that {class} names, the right to read the secret in the store{?; mounting is retried automatically}",
	},
	{
		kind:     SecretsProvider,
		patterns: re(`provider not found: provider "(?P<name>[^"]+)"`),
		brief:    "no provider {name}",
		text:     "its node lacks the provider {name} of the secrets store driver, which {volume} needs",
		advice:   "install provider {name} of the Secrets Store CSI driver, and check that its pod runs on {node} (its DaemonSet){?; mounting is retried automatically}",
	},
	{
		kind:     SecretsStoreUnknown,
		patterns: re(`(?:failed to mount secrets store objects|error mounting secret\b|failed to get objectType:).*\blookup (?P<name>\S+?)(?: on \S+)?: (?:no such host|server misbehaving)`),
		complete: true, brief: "unknown secrets store",
		text:   "its node cannot resolve {name}, the secrets store for {volume}",
		advice: "correct the name of the store in {class} of the volume, or DNS of {node}{?; mounting is retried automatically}",
	},
}
