terraform {
  encryption {
    key_provider "aws_kms" "k" {
      kms_key_id                  = "alias/state"
      key_spec                    = "AES_256"
      region                      = "eu-central-1"
      access_key                  = "a"
      secret_key                  = "b"
      skip_credentials_validation = true
      skip_requesting_account_id  = true
    }
    method "aes_gcm" "m" {
      keys = key_provider.aws_kms.k
    }
    state {
      method = method.aes_gcm.m
    }
    plan {
      method = method.aes_gcm.m
    }
  }
}
resource "terraform_data" "a" {
  input = "hunter2"
}
