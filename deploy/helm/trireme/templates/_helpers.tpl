{{- define "trireme.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- define "trireme.labels" -}}
app.kubernetes.io/name: trireme
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
{{- /* Whether the RESP port is open: with TLS, or unencrypted where that was asked for. Empty is no. */ -}}
{{- define "trireme.resp" -}}
{{- if and .Values.resp (or .Values.tls.apiSecretName .Values.respPlaintext) }}open{{ end -}}
{{- end -}}
{{- /* Jobs are no nodes: they have another name, so that no Service and no policy of the nodes selects them. */ -}}
{{- define "trireme.jobLabels" -}}
app.kubernetes.io/name: trireme-job
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
