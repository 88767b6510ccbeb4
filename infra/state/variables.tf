variable "bucket" {
  description = "Name of the bucket, globally unique."
  type        = string
}

variable "table" {
  description = "Name of the table for locks and digests. Empty for no table: every backend block then needs `use_lockfile = true`."
  type        = string
  default     = "lockstep-locks"
}

variable "keep_versions_days" {
  description = "Time that old versions of a state are kept, in days. The last twenty are kept longer."
  type        = number
  default     = 365

  validation {
    condition     = var.keep_versions_days >= 30
    error_message = "Old states are what mistakes are mended with: keep them for 30 days at least."
  }
}

variable "trusted_arns" {
  description = "ARNs of the users or roles that run `lockstep serve`. They may assume a role with access to the states. Empty for no such role."
  type        = list(string)
  default     = []
}

variable "external_id" {
  description = "External ID that they must present: `lockstep serve -state-external-id`."
  type        = string
  default     = "lockstep"
}

variable "encryption_key_arns" {
  description = "ARNs of the KMS keys for encryption blocks with `key_provider \"aws_kms\"`. Do not use the key of this module, which is only for S3."
  type        = list(string)
  default     = []
}

variable "tags" {
  description = "Tags of all resources that support tags."
  type        = map(string)
  default     = {}
}
